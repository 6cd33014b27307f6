import type { Stet, Version } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** `ref` is `live`, a uuid, or at least its first 8 digits. */
export async function findVersion(client: Stet, ref: string): Promise<Version> {
  if (ref === 'live' || uuidForm.test(ref)) return client.versions.get(ref)
  if (!/^[0-9a-f-]{8,}$/i.test(ref)) {
    throw new CliError('usage', `Invalid version: ${ref}`, {
      hint: 'use live, a uuid or at least its first 8 digits, as in stet versions list',
    })
  }
  const matches = (await client.versions.list()).filter(({ uuid }) => uuid.startsWith(ref.toLowerCase()))
  const [only, ...others] = matches
  if (only && others.length === 0) return only
  if (!only) throw new CliError('not_found', `No version begins with ${ref}`, { hint: 'run stet versions list' })
  throw new CliError('usage', `Several versions begin with ${ref}`, { lines: matches.map(({ uuid }) => uuid) })
}

/** Lists the open drafts, or those that can be restored. */
export async function listDrafts(client: Stet, isDeleted: boolean): Promise<Version[]> {
  const listed = await client.versions.list({ status: 'draft', deleted: isDeleted })
  return listed.filter(({ deletedAt }) => (deletedAt !== null) === isDeleted)
}

export function isDraft({ title, uuid }: Version, ref: string): boolean {
  return title === ref || uuid === ref.toLowerCase()
}

function matchDrafts(drafts: readonly Version[], ref: string): Version[] {
  const exact = drafts.filter((draft) => isDraft(draft, ref))
  if (exact.length > 0 || ref.length < 8) return exact
  return drafts.filter(({ uuid }) => uuid.startsWith(ref.toLowerCase()))
}

/**
 * Finds the only draft by name, uuid, or at least its first 8 digits. If several deleted drafts have this name, finds
 * the one deleted last.
 */
export async function findDraft(client: Stet, ref: string, isDeleted = false): Promise<Version> {
  const drafts = await listDrafts(client, isDeleted)
  const found = matchDrafts(drafts, ref).sort((a, b) => (b.deletedAt ?? '').localeCompare(a.deletedAt ?? ''))
  const [only, ...others] = found
  if (only && (others.length === 0 || (isDeleted && only.title === ref))) return only
  if (!only) {
    throw new CliError('not_found', `No ${isDeleted ? 'deleted ' : ''}draft has the name or uuid ${ref}`, {
      hint: `run stet versions list${isDeleted ? ' --deleted' : ''}`,
    })
  }
  throw new CliError('usage', `Several drafts match ${ref}: pass the uuid of one`, {
    lines: found.map(({ uuid }) => uuid),
  })
}

/** In a project without both, finds the deleted draft `deletedUuid`. */
export async function findLiveOrNewestDraft(client: Stet, deletedUuid?: string): Promise<Version> {
  const versions = await client.versions.list({ deleted: deletedUuid !== undefined })
  const found =
    versions.find(({ isLive }) => isLive) ??
    versions.find(({ status, deletedAt }) => status === 'draft' && !deletedAt) ??
    versions.find(({ uuid }) => uuid === deletedUuid)
  if (found) return found
  throw new CliError('not_found', 'The project has no versions', { hint: 'run stet versions create <name>' })
}

/** Returns `live` or a uuid. A flag or variable wins, then the lock of the current server and project, then live. */
export async function findVersionToRun(client: Stet, ctx: Context): Promise<string> {
  const { versionRef, lock, baseUrl, projectId } = await ctx.settings()
  if (versionRef) return versionRef.value === 'live' ? 'live' : (await findVersion(client, versionRef.value)).uuid
  if (lock?.baseUrl !== baseUrl.value || lock.projectId !== projectId?.value) return 'live'
  return lock.version.ref ?? lock.version.uuid
}

export function describeVersion(version: Pick<Version, 'status' | 'title' | 'uuid' | 'version' | 'isLive'>): string {
  if (version.status === 'draft') return `draft "${version.title}" (${version.uuid.slice(0, 8)})`
  return `${version.isLive ? 'live ' : ''}v${version.version} "${version.title}" (${version.uuid.slice(0, 8)})`
}
