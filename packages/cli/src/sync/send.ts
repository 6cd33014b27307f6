import type { Change, LiveConflict, Stet } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { CliError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { requireReleases } from '../settings/client.ts'
import { isJsonObject } from '../settings/json-file.ts'
import type { LockEntry } from '../settings/lock-file.ts'
import { entryOf } from './apply.ts'
import { type Compared, isInStep } from './compare.ts'
import { hashText } from './hash.ts'
import { KnownTexts } from './merge/known-texts.ts'
import type { Workspace } from './workspace.ts'

/** The server's limit for one transaction. */
const maxChanges = 1000

const inParts = 'push in parts: run stet push <folder or prompt...>'

/** Throws if a push has more changes than the server accepts. */
export function refuseTooMany(changes: readonly Change[]): void {
  if (changes.length <= maxChanges) return
  throw new CliError('invalid', `${changes.length} changes exceed the limit of ${maxChanges} per push`, {
    hint: inParts,
  })
}

/** Makes a request with changes, of which the server does all or nothing. An error names the prompts that are its cause. */
export async function sendChanges<T>(client: Stet, changes: readonly Change[], send: () => PromiseLike<T>): Promise<T> {
  await requireReleases(client)
  const { ApiError, hasReason } = await import('@stet/sdk')
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const conflicts = conflictLines(error.details)
    if (conflicts.length > 0) {
      throw new CliError('conflict', 'A colleague changed the same prompts; nothing was sent', {
        lines: conflicts,
        hint: 'run stet pull to merge them, then stet push',
      })
    }
    if (hasReason(error, 'others-changed')) {
      throw new CliError('conflict', 'Others changed these prompts in the draft; nothing was sent', {
        lines: error.details.paths,
        hint: 'publish or revert their changes, or choose another name',
      })
    }
    if (error.status === 413) {
      throw new CliError('invalid', 'The changes exceed the size limit of a request; nothing was sent', {
        hint: inParts,
      })
    }
    const lines = issuesOf(error.details, changes)
    if (lines.length === 0) throw error
    throw new CliError('invalid', 'The server rejected some of the prompts; nothing was sent', { lines })
  }
}

/** Adds the bases that the server may lack: a draft keeps no earlier texts. */
export async function withBases(workspace: Workspace, changes: readonly Change[], io: Io): Promise<Change[]> {
  const { remote } = workspace
  const texts = new KnownTexts(workspace, io)
  const sent: Change[] = []
  for (const change of changes) {
    const { path, baseHash = '' } = change
    const place = change.from ?? path
    const isStale = baseHash !== (remote.get(place)?.contentHash ?? '')
    const base = isStale ? await texts.findHere(place, baseHash) : undefined
    sent.push(base !== undefined && hashText(base) === baseHash ? { ...change, base } : change)
  }
  return sent
}

// The server identifies changes by their position in the request.
function issuesOf(details: unknown, changes: readonly Change[]): string[] {
  const issues: unknown = isJsonObject(details) ? details['issues'] : undefined
  if (!Array.isArray(issues)) return []
  return issues.filter(isJsonObject).flatMap(({ path, message }) => {
    const [list, index]: unknown[] = Array.isArray(path) ? path : []
    const change = list === 'changes' && typeof index === 'number' ? changes[index] : undefined
    return change ? [`${change.path} ${message}`] : []
  })
}

/**
 * Returns the lock file's entries after a push. Pushed prompts get a new base, and deleted prompts lose their entry.
 * Prompts whose file and server text already agreed also get a new base, unless a merge is pending.
 */
export function entriesAfterPush(
  before: Readonly<Record<string, LockEntry>>,
  compared: readonly Compared[],
  sent: readonly Change[],
  after: ReadonlyMap<string, { documentUuid: string; movedFrom?: string }>,
  baseInLive: (path: string, sentAs: string) => string | undefined,
  merged: ReadonlyMap<string, string>,
): Record<string, LockEntry> {
  const entries: Record<string, LockEntry> = { ...before }
  const alike = compared.filter((one) => isInStep(one) && one.mergedLive === undefined)
  for (const { path, remoteHash, documentUuid } of alike) {
    // Not the text in `after`, which may be a colleague's that this folder has not seen.
    const there = remoteHash === undefined ? undefined : { contentHash: remoteHash, documentUuid }
    setEntry(entries, path, there, before[path])
  }
  for (const { from } of sent) if (from !== undefined) delete entries[from]
  for (const { path, from, content, liveHash } of sent) {
    // The base is the text that the file has or continues, so that a colleague's concurrent change appears as a server
    // change.
    const hash = content === undefined ? from && hashOfMoved(path, compared) : (merged.get(path) ?? hashText(content))
    const { documentUuid, movedFrom } = after.get(path) ?? {}
    setEntry(entries, path, hash === undefined ? undefined : { contentHash: hash, documentUuid }, {
      live: liveHash ?? baseInLive(from ?? path, path),
      movedFrom,
    })
  }
  return entries
}

// The file may not have a colleague's text yet that moves too.
function hashOfMoved(path: string, compared: readonly Compared[]): string | undefined {
  const one = compared.find((candidate) => candidate.path === path)
  return one?.state === 'remote-edit' ? one.baseHash : one?.remoteHash
}

function setEntry(
  entries: Record<string, LockEntry>,
  path: string,
  there: { contentHash: string; documentUuid: string | undefined } | undefined,
  { live, movedFrom }: { live?: string | undefined; movedFrom?: string | undefined } = {},
): void {
  if (there) entries[path] = { ...entryOf(there.contentHash, there.documentUuid), ...defined({ live, movedFrom }) }
  else delete entries[path]
}

/**
 * Returns the distinct prompts of a conflict response. If the server tried to merge them, their lines are those that a
 * pull puts between markers.
 */
export function conflictLines(details: unknown): string[] {
  const conflicts: unknown = isJsonObject(details) ? details['conflicts'] : undefined
  if (!Array.isArray(conflicts)) return []
  const named = conflicts.map(({ path, regions = [] }: Pick<LiveConflict, 'path'> & Partial<LiveConflict>) => {
    const ranges = regions.map(({ line, lines }) => `${line}-${line + lines - 1}`)
    return ranges.length > 0 ? `${path}  lines ${ranges.join(', ')}` : path
  })
  return [...new Set(named)]
}
