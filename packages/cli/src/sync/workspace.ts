import { resolve } from 'node:path'
import type { Prompt, Stet, Version } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { type Lock, type LockEntry, writeLockFile } from '../settings/lock-file.ts'
import type { Settings } from '../settings/resolve.ts'
import { compare } from './compare.ts'
import type { Compared } from './plan.ts'
import { type Scan, scanPrompts } from './scan.ts'
import { findLiveOrNewestDraft, findVersion } from './version-ref.ts'

/** A folder, its lock and the version that it is compared with. */
export interface Workspace {
  client: Stet
  settings: Settings
  promptsDir: string
  /** What relative names on the command line are relative to. */
  cwd: string
  scan: Scan
  version: Version
  /** Whether the folder follows whatever is live. */
  followsLive: boolean
  remote: Map<string, Prompt>
  entries: Readonly<Record<string, LockEntry>>
  compared: Compared[]
}

/** Reads all three sides. `ref` overrides the version that the lock names. */
export async function openWorkspace(ctx: Context, ref?: string): Promise<Workspace> {
  const settings = await ctx.settings()
  await ctx.projectId()
  refuseOtherLock(settings)
  const client = await ctx.client()
  const { version, followsLive } = await resolveVersion(ctx, client, settings.lock, ref ?? settings.versionRef?.value)
  const prompts = await client.prompts.list({ versionUuid: version.uuid })
  const promptsDir = promptsDirOf(settings)
  const scan = await scanPrompts(promptsDir, settings.config.include, settings.config.ignore)
  for (const { path, reason } of scan.refused) ctx.warn(`${path} ${reason}: left out`)
  const remote = new Map(prompts.map((prompt) => [prompt.path, prompt]))
  const entries = settings.lock?.prompts ?? {}
  return {
    client,
    settings,
    promptsDir,
    cwd: ctx.io.cwd,
    scan,
    version,
    followsLive,
    remote,
    entries,
    compared: compareAll(entries, scan, remote),
  }
}

export function promptsDirOf(settings: Settings): string {
  return resolve(settings.root, settings.config.promptsDir)
}

/** All prompts of any side, in the order of their paths. */
function compareAll(
  entries: Readonly<Record<string, LockEntry>>,
  scan: Scan,
  remote: ReadonlyMap<string, Pick<Prompt, 'content' | 'contentHash' | 'documentUuid' | 'updatedAt'>>,
): Compared[] {
  const refused = new Set(scan.refused.map(({ path }) => path))
  const paths = new Set([...Object.keys(entries), ...scan.prompts.keys(), ...remote.keys()])
  const compared: Compared[] = []
  for (const path of [...paths].sort()) {
    if (refused.has(path)) continue
    const local = scan.prompts.get(path)
    const there = remote.get(path)
    const hasLeftover = scan.leftovers.has(path)
    const base = baseOf(entries[path], hasLeftover)
    const state = compare({ base, local: local?.hashes, remote: there?.contentHash })
    if (!state) continue
    compared.push({
      path,
      state,
      localText: local?.text,
      localHash: local?.hash,
      remoteText: there?.content,
      remoteHash: there?.contentHash,
      documentUuid: there?.documentUuid,
      remoteUpdatedAt: there?.updatedAt,
      hasLeftover,
    })
  }
  return compared
}

// A conflict counts as settled, on top of the server's text, once its `.remote` file is gone.
function baseOf(entry: LockEntry | undefined, hasLeftover: boolean): string | undefined {
  return !hasLeftover && entry?.theirs !== undefined ? entry.theirs : entry?.hash
}

/** Only the named prompts or folders; all without names. Names may be files too. */
export function selectPaths(
  compared: readonly Compared[],
  names: readonly string[],
  { promptsDir, cwd }: { promptsDir: string; cwd: string },
): Compared[] {
  if (names.length === 0) return [...compared]
  const wanted = names.map((name) => toPromptPath(name, promptsDir, cwd))
  const matches = (path: string, name: string): boolean => name === '' || path === name || path.startsWith(`${name}/`)
  const missing = wanted.find((name) => !compared.some(({ path }) => matches(path, name)))
  if (missing !== undefined) {
    throw new CliError('not_found', `No prompt or folder ${missing}`, { hint: 'stet status lists what differs' })
  }
  return compared.filter(({ path }) => wanted.some((name) => matches(path, name)))
}

/** The path of a prompt that somebody named by its path or its file. */
export function toPromptPath(name: string, promptsDir: string, cwd: string): string {
  const absolute = resolve(cwd, name)
  const isFile = absolute === promptsDir || absolute.startsWith(`${promptsDir}/`)
  const path = isFile && name.includes('.') ? absolute.slice(promptsDir.length + 1) : name
  return path.replace(/\.promptl$/, '').replaceAll(/^\/+|\/+$/g, '')
}

/** Writes the lock for a state of the server; `prompts` are the entries to keep. */
export async function saveLock(
  workspace: Pick<Workspace, 'settings'>,
  version: Version,
  followsLive: boolean,
  prompts: Record<string, LockEntry>,
): Promise<void> {
  const { settings } = workspace
  const lock: Lock = {
    baseUrl: settings.baseUrl.value,
    projectId: version.projectId,
    version: { uuid: version.uuid, status: version.status, name: version.title, ...(followsLive && { ref: 'live' }) },
    prompts,
  }
  await writeLockFile(settings.lockFile, lock)
}

/** A lock of another server or project is no base: comparing with it would show deletions that nobody made. */
export function refuseOtherLock({ lock, baseUrl, projectId, lockFile }: Settings): void {
  if (!lock) return
  if (lock.baseUrl !== baseUrl.value) {
    throw new CliError('usage', `${lockFile} belongs to ${lock.baseUrl}, not to ${baseUrl.value} (${baseUrl.origin})`, {
      hint: '--profile <name> keeps a lock of its own',
    })
  }
  if (projectId && lock.projectId !== projectId.value) {
    throw new CliError(
      'usage',
      `${lockFile} belongs to project ${lock.projectId}, not to ${projectId.value} (${projectId.origin})`,
      { hint: 'stet init --force starts over with the other project' },
    )
  }
}

async function resolveVersion(
  ctx: Context,
  client: Stet,
  lock: Lock | undefined,
  ref: string | undefined,
): Promise<Pick<Workspace, 'version' | 'followsLive'>> {
  if (ref !== undefined) return { version: await findVersion(client, ref), followsLive: ref === 'live' }
  if (!lock) {
    const version = await findLiveOrNewestDraft(client)
    return { version, followsLive: version.isLive }
  }
  if (lock.version.ref === 'live') return { version: await client.versions.get('live'), followsLive: true }
  const version = await client.versions.get(lock.version.uuid)
  if (lock.version.status === 'draft' && version.status === 'merged') {
    ctx.say(`The draft "${version.title}" was published; following live`)
    return { version: version.isLive ? version : await client.versions.get('live'), followsLive: true }
  }
  return { version, followsLive: false }
}
