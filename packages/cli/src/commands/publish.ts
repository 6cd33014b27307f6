import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Change, GateVerdict, ReleaseFinding, Stet, Version, VersionDiff } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand } from '../command.ts'
import { annotatePrompts, type Finding, findingsOf } from '../compile/annotations.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { requireReleases } from '../settings/client.ts'
import { type Compared, isUnsettled } from '../sync/compare.ts'
import { conflictLines } from '../sync/send.ts'
import { describeVersion, findVersion } from '../sync/version-ref.ts'
import { entriesInStep, openWorkspace, refuseOtherLock, saveLock, type Workspace } from '../sync/workspace.ts'
import { gateLines, refusedGates } from '../ui/gate-lines.ts'

export interface PublishInput {
  ref?: string | undefined
  title?: string | undefined
  description?: string | undefined
  descriptionFile?: string | undefined
  isCheck?: boolean
  allowsDirty?: boolean
  isForced?: boolean
  merges?: boolean
  allowsEmpty?: boolean
  overridesGates?: boolean
  reason?: string | undefined
}

export interface PublishReport {
  version: Version
  isPublished: boolean
  changes: { path: string; from?: string; status: Change['status']; conflict: boolean }[]
  /** What the gates of the project say. Absent if the draft was not checked before. */
  gates?: GateVerdict[]
}

export const command = defineCommand({
  summary: "Makes a draft the live version, after checking that it compiles and does not overwrite others' changes.",
  examples: ['stet publish', 'stet publish --yes --description "Friendlier tone"', 'stet publish --check'],
  args: { '[version]': 'the draft (the one in the lock file)' },
  flags: {
    '--title <text>': 'new name of the version',
    '--description <text>': 'release notes',
    '--description-file <file>': 'release notes from a file; - is standard input',
    '--check': 'only check',
    '--allow-dirty': 'publish even if files have changes that were not pushed',
    '--allow-empty': 'publish a draft without changes',
    '--merge': 'merge changes of other lines in live',
    '--force': 'overwrite changes made to live since the draft was opened',
    '--override <check>': 'gate: publish despite the gates; needs an admin key and --reason',
    '--reason <text>': 'reason, kept in the history',
  },
  parse(raw): PublishInput {
    const override = raw.flags.override
    if (override !== undefined && override !== 'gate') throw new CliError('usage', '--override: must be gate')
    const reason = raw.flags.reason
    if (override !== undefined && !reason)
      throw new CliError('usage', 'Missing input: the reason', { hint: 'pass --reason "<why>"' })
    return {
      ref: raw.args[0],
      title: raw.flags.title,
      description: raw.flags.description,
      descriptionFile: raw.flags.descriptionFile,
      isCheck: raw.flags.check,
      allowsDirty: raw.flags.allowDirty,
      isForced: raw.flags.force,
      merges: raw.flags.merge,
      allowsEmpty: raw.flags.allowEmpty,
      overridesGates: override === 'gate',
      reason,
    }
  },
  run: (input, ctx) => publishVersion(ctx, input),
  print: (report, ctx) => sayPublished(report, ctx),
})

/** Publishes a draft. If this folder's lock names the draft, the lock follows live afterwards. */
export async function publishVersion(ctx: Context, input: PublishInput): Promise<PublishReport> {
  const client = await ctx.client()
  if (input.merges || input.isCheck) await requireReleases(client)
  const version = await findDraft(ctx, client, input.ref)
  const workspace = await workspaceOf(ctx, version)
  if (workspace && !input.allowsDirty) refuseDirty(workspace)
  const diff = await client.versions.diff(version.uuid)
  if (diff.changes.length === 0 && !input.allowsEmpty) {
    throw new CliError('usage', `${capitalize(describeVersion(version))} has no changes; nothing was published`, {
      hint: 'run stet push first, or pass --allow-empty to publish it unchanged',
    })
  }
  const gates = await checkDraft(client, version, diff.changes, input, ctx)
  const changes = diff.changes.flatMap(describeChange)
  for (const line of gateLines(gates, ctx.style)) ctx.say(line)
  if (input.isCheck) return { version, isPublished: false, changes, gates }
  const description = await descriptionOf(input, ctx)
  ctx.say(`${capitalize(describeVersion(version))}: ${countChanges(changes)} · ${await describeLive(client)}`)
  if (!(await ctx.confirm('Publish to live?', '--yes'))) throw new CliError('usage', 'Nothing was published')
  const published = await publishOrRefuse(client, version, ctx, {
    ...defined({ title: input.title, description, reason: input.reason }),
    ...(input.overridesGates && { override: ['gate'] }),
    ...(input.merges ? { merge: true } : input.isForced && { force: true }),
  })
  const report = { ...publishedAs(published, changes), gates }
  if (workspace) await saveLock(workspace, published, true, entriesInStep(workspace))
  return report
}

/** A move is one change, at the new path. */
function describeChange(change: VersionDiff['changes'][number]): PublishReport['changes'] {
  const { path, status, conflict, movedFrom, movedTo } = change
  if (movedFrom) return [{ path, from: movedFrom.path, status: 'moved', conflict }]
  return movedTo === undefined || status !== 'deleted' ? [{ path, status, conflict }] : []
}

/** Throws if the server's response is still a draft. */
export function publishedAs(version: Version, changes: PublishReport['changes']): PublishReport {
  const isPublished = version.status === 'merged'
  if (isPublished) return { version, isPublished, changes }
  throw new CliError('unexpected', `The server did not publish "${version.title}"; its draft is ${version.uuid}`)
}

export function sayPublished({ version, isPublished, changes }: PublishReport, { style, say }: Context): void {
  if (isPublished) say(`${style.ok} Live is now v${version.version} · ${version.mergedAt}`)
  else say(`${style.ok} ${capitalize(describeVersion(version))} can be published: ${countChanges(changes)}`)
}

async function findDraft(ctx: Context, client: Stet, named: string | undefined): Promise<Version> {
  await ctx.projectId()
  const { lock, versionRef } = await ctx.settings()
  const ref = named ?? versionRef?.value ?? lock?.version.uuid
  if (ref === undefined)
    throw new CliError('usage', 'Missing input: the version to publish', { hint: 'run stet publish <version>' })
  const version = await findVersion(client, ref)
  if (version.status === 'draft') return version
  throw new CliError('conflict', `${capitalize(describeVersion(version))} is already published`, {
    hint: 'run stet push to open a new draft',
  })
}

// Returns undefined if this folder's lock names another version.
async function workspaceOf(ctx: Context, version: Version): Promise<Workspace | undefined> {
  const settings = await ctx.settings()
  if (settings.lock?.version.uuid !== version.uuid) return undefined
  refuseOtherLock(settings)
  return openWorkspace(ctx, version.uuid)
}

/** Returns whether a change in the folder was not pushed. */
export function isUnpushed(one: Compared): boolean {
  const { move, mergedLive, state } = one
  return isUnsettled(one) || move?.by === 'file' || mergedLive !== undefined || state.startsWith('local-')
}

function refuseDirty({ compared }: Workspace): void {
  const dirty = compared.filter(isUnpushed)
  if (dirty.length === 0) return
  throw new CliError('conflict', 'Some changes were not pushed', {
    lines: dirty.map(({ path }) => path),
    hint: 'run stet push, or pass --allow-dirty',
  })
}

async function checkDraft(
  client: Stet,
  version: Version,
  changes: VersionDiff['changes'],
  { isCheck, isForced, merges, overridesGates }: PublishInput,
  ctx: Context,
): Promise<GateVerdict[]> {
  const { ApiError } = await import('@stet/sdk')
  const found = await client.versions.checks(version.uuid, { block: 'configuration' }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.reason === 'unknown-route')) throw error
    // An older server compiles the prompts only while it publishes.
    if (!isCheck) return { conflicts: changes.filter(({ conflict }) => conflict), checks: [], gates: [] }
    throw new CliError('unexpected', 'The server cannot check a draft; nothing was checked', {
      hint: 'upgrade the server',
    })
  })
  if (found.conflicts.length > 0 && !isForced && (!merges || isCheck)) {
    const paths = found.conflicts.map(({ path }) => path)
    throw await liveConflict(version, paths, ctx)
  }
  const findings = found.checks.flatMap(({ findings }) => findings)
  if (findings.length > 0) throw await refusedFindings(findings, ctx)
  // A server of an earlier release has no gates.
  const { gates = [] } = found
  const isBlocked = found.checks.some(({ name, state }) => name === 'gate' && state === 'blocked')
  // With --merge, the gates judge the merged texts, which only the publication makes.
  if (isBlocked && !overridesGates && (!merges || isCheck))
    throw refusedGates(gates.filter(({ verdict }) => verdict !== 'pass'))
  return gates
}

function refusedFindings(findings: readonly ReleaseFinding[], ctx: Context): Promise<CliError> {
  const prompts = findings.map((one) => ({ path: one.in ?? one.path, found: [{ ...one, severity: 'error' as const }] }))
  const isBroken = findings.some(({ check }) => check === 'compile')
  return refusedPrompts(prompts, isBroken, ctx)
}

async function refusedPrompts(
  prompts: readonly { path: string; found: readonly Finding[] }[],
  isBroken: boolean,
  ctx: Context,
): Promise<CliError> {
  await annotatePrompts(prompts, ctx)
  const lines = prompts.flatMap(({ path, found }) =>
    found.map(({ line, column, message }) => `${path}:${line}:${column} ${message}`),
  )
  const what = isBroken ? 'Some prompts do not compile' : 'A run would refuse some prompts'
  return new CliError('invalid', `${what}; nothing was published`, { lines: [...new Set(lines)] })
}

/** Explains a refusal because of the prompts, at their lines. Returns any other error unchanged. */
export async function refusalOf(error: unknown, ctx: Context): Promise<unknown> {
  const { hasReason } = await import('@stet/sdk')
  if (hasReason(error, 'draft-does-not-compile')) {
    const found = error.details.documents.map(({ path, errors }) => ({ path, found: findingsOf({ errors }) }))
    return refusedPrompts(found, true, ctx)
  }
  if (hasReason(error, 'gate')) return refusedGates(error.details.gates)
  if (!hasReason(error, 'release-refused')) return error
  const findings = error.details.checks.flatMap(({ findings }) => findings)
  return refusedFindings(findings, ctx)
}

/**
 * Returns the error for a publish conflict. Its hint lists the next steps, which require a folder that follows the
 * draft.
 */
async function liveConflict(version: Version, lines: string[], ctx: Context, wasMerged = false): Promise<CliError> {
  const { lock } = await ctx.settings()
  const isFollowed = lock?.version.uuid === version.uuid
  const follow = isFollowed ? '' : `stet versions use ${version.uuid.slice(0, 8)}, then `
  const other = wasMerged ? '' : ', or stet publish --merge'
  return new CliError('conflict', 'Live and this draft changed the same prompts', {
    lines,
    hint: `run ${follow}stet pull to merge them, then stet push and stet publish${other}`,
  })
}

// Another user may publish between the check and this request. The result is a conflict.
async function publishOrRefuse(
  client: Stet,
  version: Version,
  ctx: Context,
  options: Parameters<Stet['versions']['publish']>[1],
): Promise<Version> {
  const { hasReason } = await import('@stet/sdk')
  try {
    return await client.versions.publish(version.uuid, { block: ['configuration'], ...options })
  } catch (error) {
    if (hasReason(error, 'live-changed')) {
      throw await liveConflict(version, conflictLines(error.details), ctx, options?.merge)
    }
    throw await refusalOf(error, ctx)
  }
}

async function descriptionOf(input: PublishInput, ctx: Context): Promise<string | undefined> {
  if (input.descriptionFile === undefined) return input.description
  if (input.descriptionFile === '-') return new TextDecoder().decode(await ctx.io.readStdin())
  const { descriptionFile } = input
  return readFile(resolve(ctx.io.cwd, descriptionFile), 'utf8').catch(() => {
    throw new CliError('usage', `--description-file: cannot read ${descriptionFile}`)
  })
}

async function describeLive(client: Stet): Promise<string> {
  const { NotFoundError } = await import('@stet/sdk')
  try {
    return `live is v${(await client.versions.get('live')).version}`
  } catch (error) {
    if (error instanceof NotFoundError) return 'nothing is live yet'
    throw error
  }
}

function countChanges(changes: PublishReport['changes']): string {
  const count = (status: string): number => changes.filter((change) => change.status === status).length
  const moved = count('moved') > 0 ? `, ${count('moved')} moved` : ''
  return `${count('added')} added, ${count('modified')} changed, ${count('deleted')} deleted${moved}`
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
