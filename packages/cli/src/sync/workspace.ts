import type { Stet, UnresolvedPrompt, Version } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { type Lock, type LockEntry, writeLockFile } from '../settings/lock-file.ts'
import { refusePathsOutside, type Settings } from '../settings/resolve.ts'
import { entryOf } from './apply.ts'
import {
  baseOf,
  type Compared,
  compare,
  conflictStates,
  isInStep,
  lockPathOf,
  type Move,
  mergedLiveOf,
} from './compare.ts'
import { dropUnpublished, entriesSincePublished } from './git/published-base.ts'
import { listPrompts } from './list-prompts.ts'
import { hasOpenConflict } from './merge/conflict-markers.ts'
import { findMoves } from './moves/find-moves.ts'
import { promptPathsOf, promptsDirOf } from './prompt-path.ts'
import { isLeftOut, type LocalPrompt, type Scan, scanProject } from './scan.ts'
import { describeVersion, findLiveOrNewestDraft, findVersion } from './version-ref.ts'

export interface Workspace {
  client: Stet
  settings: Settings
  promptsDir: string
  /** Names on the command line are relative to this folder. */
  cwd: string
  scan: Scan
  version: Version
  /** The number of the newest release, if the version is live. */
  seq?: number | undefined
  followsLive: boolean
  remote: Map<string, UnresolvedPrompt>
  entries: Readonly<Record<string, LockEntry>>
  compared: Compared[]
  guessesMoves: boolean
}

/**
 * Reads all three sides. `ref` overrides the version of the flag, the environment and the lock. Without `guessesMoves`,
 * a moved file is a deleted and a new one.
 */
export async function openWorkspace(ctx: Context, ref?: string, guessesMoves = true): Promise<Workspace> {
  const settings = await ctx.settings()
  await ctx.projectId()
  refuseOtherLock(settings)
  // Needed even without a configuration, because the default folder may be a symbolic link.
  await refusePathsOutside(settings)
  const client = await ctx.client()
  const followed = await resolveVersion(ctx, client, settings.lock, ref ?? settings.versionRef?.value)
  const { version, followsLive } = followed
  // Read before the texts: if another release comes between, the lock has the number of the earlier one.
  const seq = await seqOf(client, version)
  const prompts = version.deletedAt ? [] : await listPrompts(client, { versionUuid: version.uuid })
  const promptsDir = promptsDirOf(settings)
  const scan = await scanProject(settings, ctx.warn)
  for (const { path, reason } of scan.refused) ctx.warn(`Skipped ${path}: ${reason}`)
  const remote = new Map(prompts.map((prompt) => [prompt.path, prompt]))
  const lock = settings.lock && { ...settings.lock, prompts: followed.entries ?? settings.lock.prompts }
  let found = compareAll(lock?.prompts ?? {}, scan, remote, guessesMoves)
  if (mayLackBase({ version, seq }, lock, found.compared)) {
    const differing = found.compared.filter((one) => !isInStep(one))
    const paths = differing.flatMap((one) => [...new Set([one.path, lockPathOf(one)])])
    const entries = await entriesSincePublished({ client, version, remote, lock, promptsDir, paths })
    found = compareAll(entries, scan, remote, guessesMoves)
  }
  return {
    ...found,
    guessesMoves,
    client,
    settings,
    promptsDir,
    cwd: ctx.io.cwd,
    scan,
    version,
    seq,
    followsLive,
    remote,
  }
}

async function seqOf(client: Stet, { uuid, isLive }: Version): Promise<number | undefined> {
  if (!isLive) return undefined
  const { NotFoundError } = await import('@stet/sdk')
  try {
    const [newest] = (await client.environments.releases('live', { limit: 1 })).items
    return newest?.version.uuid === uuid ? newest.seq : undefined
  } catch (error) {
    // The server is older than releases.
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

// Returns whether live may have changed since the lock was written. After a rollback, that may be so although the lock
// names the live version. In an open draft, such a change appears as a conflict.
function mayLackBase(
  { version, seq }: Pick<Workspace, 'version' | 'seq'>,
  lock: Lock | undefined,
  compared: readonly Compared[],
): boolean {
  if (version.isLive) {
    return (seq === undefined || lock?.version.seq !== seq) && compared.some((one) => !isInStep(one))
  }
  return (
    lock?.version.uuid === version.uuid &&
    version.status === 'draft' &&
    compared.some(({ state }) => conflictStates.has(state))
  )
}

export function compareWith(entries: Readonly<Record<string, LockEntry>>, workspace: Workspace): Workspace {
  const { scan, remote, guessesMoves } = workspace
  return { ...workspace, ...compareAll(entries, scan, remote, guessesMoves) }
}

type RemotePrompt = Pick<UnresolvedPrompt, 'content' | 'contentHash'> &
  Partial<Pick<UnresolvedPrompt, 'documentUuid' | 'updatedAt' | 'movedFrom'>>

/** Compares all prompts, also those of which only one side has a file or an entry. */
export function compareAll(
  known: Readonly<Record<string, LockEntry>>,
  { prompts: local, refused }: Scan,
  prompts: ReadonlyMap<string, RemotePrompt>,
  guessesMoves: boolean,
): Pick<Workspace, 'entries' | 'compared'> {
  const isCompared = ([path]: readonly [string, unknown]): boolean => !isLeftOut(path, refused)
  const remote = new Map([...prompts].filter(isCompared))
  const kept = Object.entries(known)
  const found = findMoves({ entries: Object.fromEntries(kept.filter(isCompared)), local, remote }, guessesMoves)
  const { entries, moves } = found
  const moved = new Map([...moves.values()].map(({ from, by }) => [from, by]))
  const compared: Compared[] = []
  for (const path of [...new Set([...Object.keys(entries), ...local.keys(), ...remote.keys()])].sort()) {
    const move = moves.get(path)
    const by = move ? undefined : moved.get(path)
    const one = compareOne(path, move, {
      entry: by ? undefined : entries[move?.from ?? path],
      local: by === 'server' ? undefined : local.get(move?.by === 'server' ? move.from : path),
      there: by === 'file' ? undefined : remote.get(move?.by === 'file' ? move.from : path),
    })
    if (one) compared.push(one)
  }
  return { entries: { ...Object.fromEntries(kept.filter((entry) => !isCompared(entry))), ...entries }, compared }
}

interface Found {
  entry: LockEntry | undefined
  local: LocalPrompt | undefined
  there: RemotePrompt | undefined
}

function compareOne(path: string, move: Move | undefined, { entry, local, there }: Found): Compared | undefined {
  const base = baseOf(entry, local?.hashes)
  const state = compare({ base, local: local?.hashes, remote: there?.contentHash })
  const [mergedLive, isMerged] = [mergedLiveOf(entry, local?.hashes), entry?.mine !== undefined]
  if (!state && mergedLive === undefined) return undefined
  return {
    path,
    move,
    // Without a state, the prompt exists nowhere. A push must still send its deletion with live's hash.
    state: state ?? 'both-deleted',
    baseHash: base,
    localFile: local?.file,
    localText: local?.text,
    localHash: local?.hash,
    remoteText: there?.content,
    remoteHash: there?.contentHash,
    documentUuid: there?.documentUuid,
    livePath: there?.movedFrom,
    remoteUpdatedAt: there?.updatedAt,
    hasMarkers: hasOpenConflict(local?.text ?? '', there?.content ?? ''),
    isMerged,
    mergedLive,
  }
}

/** Names may be prompts, files or folders. Without names, selects everything. */
export function selectPaths(
  compared: readonly Compared[],
  names: readonly string[],
  place: { promptsDir: string; cwd: string },
): Compared[] {
  const isSelected = selectorOf(names, new Set(compared.flatMap((one) => [one.path, lockPathOf(one)])), place)
  return compared.filter((one) => isSelected(one.path) || isSelected(lockPathOf(one)))
}

/**
 * Returns a filter over paths. Without names, the filter selects everything.
 * @throws CliError not_found for a name without a match
 */
export function selectorOf(
  names: readonly string[],
  paths: ReadonlySet<string>,
  { promptsDir, cwd }: { promptsDir: string; cwd: string },
): (path: string) => boolean {
  if (names.length === 0) return () => true
  const matches = (path: string, name: string): boolean => name === '' || path === name || path.startsWith(`${name}/`)
  const wanted = names.map((name) => {
    const candidates = promptPathsOf(name, promptsDir, cwd)
    const found = candidates.find((one) => [...paths].some((path) => matches(path, one)))
    if (found !== undefined) return found
    throw new CliError('not_found', `No prompt or folder ${candidates[0]}`, {
      hint: 'run stet prompts list for the server, or add --local for your files',
    })
  })
  return (path) => wanted.some((name) => matches(path, name))
}

/**
 * Returns the entries with a new base for each prompt whose file and server text agree. Otherwise, the lock file would
 * keep stale bases when it moves to another version.
 */
export function entriesInStep({
  entries,
  compared,
}: Pick<Workspace, 'entries' | 'compared'>): Record<string, LockEntry> {
  const settled = { ...entries }
  for (const one of compared) {
    const { path, remoteHash, documentUuid } = one
    if (!isInStep(one)) continue
    if (remoteHash === undefined) delete settled[path]
    else settled[path] = entryOf(remoteHash, documentUuid)
  }
  return settled
}

/**
 * Returns the entries of a folder that leaves a draft for live. The folder's changes in the draft build on live's
 * texts, so a colleague's change of the draft, or its deletion, does not affect them.
 */
export function entriesOverLive(entries: Readonly<Record<string, LockEntry>>): Record<string, LockEntry> {
  // The prompt that moved was in live, the new prompt at its old path was not: the last entry of a path wins.
  const rankOf = ([, { movedFrom }]: readonly [string, LockEntry]) => (movedFrom === undefined ? 0 : 1)
  const ordered = Object.entries(entries).toSorted((one, other) => rankOf(one) - rankOf(other))
  const over = ordered.map(([path, entry]) => {
    const { live, documentUuid, movedFrom, movedTo } = entry
    if (live === undefined) return [path, entry] as const
    const moved = movedTo ?? (movedFrom === undefined ? undefined : path)
    return [movedFrom ?? path, { ...entryOf(live, documentUuid), ...(moved && { movedTo: moved }) }] as const
  })
  return Object.fromEntries(over.filter(([, { hash }]) => hash !== ''))
}

/** Writes the lock for one version with the entries `prompts`. */
export async function saveLock(
  workspace: Pick<Workspace, 'settings'> & Partial<Pick<Workspace, 'version' | 'seq'>>,
  version: Version,
  followsLive: boolean,
  prompts: Record<string, LockEntry>,
): Promise<void> {
  const { settings } = workspace
  const lock: Lock = {
    baseUrl: settings.baseUrl.value,
    projectId: version.projectId,
    version: {
      uuid: version.uuid,
      status: version.status,
      name: version.title,
      ...(followsLive && { ref: 'live' }),
      // Only if the entries were compared with this release.
      ...(version.uuid === workspace.version?.uuid && workspace.seq !== undefined && { seq: workspace.seq }),
    },
    prompts: version.status === 'draft' ? prompts : withoutDraftNotes(prompts),
  }
  await writeLockFile(settings.lockFile, lock)
}

// These notes apply to drafts only.
function withoutDraftNotes(prompts: Readonly<Record<string, LockEntry>>): Record<string, LockEntry> {
  const entries = Object.entries(prompts).map(
    ([path, { live: _, merged: __, movedFrom: ___, ...entry }]) => [path, entry] as const,
  )
  return Object.fromEntries(entries)
}

/** Throws if the lock belongs to another server or project. With such a lock, every prompt would look deleted. */
export function refuseOtherLock({ lock, baseUrl, projectId, lockFile }: Settings): void {
  if (!lock) return
  if (lock.baseUrl !== baseUrl.value) {
    throw new CliError('usage', `${lockFile} belongs to ${lock.baseUrl}, not to ${baseUrl.value} (${baseUrl.origin})`, {
      hint: 'pass --profile <name> to use a separate lock',
    })
  }
  if (projectId && lock.projectId !== projectId.value) {
    throw new CliError(
      'usage',
      `${lockFile} belongs to project ${lock.projectId}, not to ${projectId.value} (${projectId.origin})`,
      { hint: 'run stet init --force to start over with the other project' },
    )
  }
}

async function resolveVersion(
  ctx: Context,
  client: Stet,
  lock: Lock | undefined,
  ref: string | undefined,
): Promise<Pick<Workspace, 'version' | 'followsLive'> & Partial<Pick<Workspace, 'entries'>>> {
  if (ref !== undefined) return { version: await findVersion(client, ref), followsLive: ref === 'live' }
  if (!lock) {
    const version = await findLiveOrNewestDraft(client)
    return { version, followsLive: version.isLive }
  }
  if (lock.version.ref === 'live') return { version: await client.versions.get('live'), followsLive: true }
  const { NotFoundError } = await import('@stet/sdk')
  const version = await client.versions.get(lock.version.uuid).catch((error: unknown) => {
    if (lock.version.status === 'draft' && error instanceof NotFoundError) return undefined
    throw error
  })
  if (!version) {
    const next = await findLiveOrNewestDraft(client, lock.version.uuid)
    ctx.say(
      `The draft "${lock.version.name}" was deleted${next.deletedAt ? '' : `; following ${describeVersion(next)}`}`,
    )
    const entries = entriesOverLive(lock.prompts)
    await dropUnpublished(client, entries, lock.prompts)
    return { version: next, followsLive: next.isLive, entries }
  }
  if (lock.version.status === 'draft' && version.status === 'merged') {
    ctx.say(`The draft "${version.title}" was published; following live`)
    return { version: version.isLive ? version : await client.versions.get('live'), followsLive: true }
  }
  return { version, followsLive: false }
}
