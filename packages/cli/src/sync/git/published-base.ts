import type { Stet, UnresolvedPrompt, Version } from '@stet/sdk'
import type { Lock, LockEntry } from '../../settings/lock-file.ts'
import { hashBytes } from '../hash.ts'
import { listPrompts } from '../list-prompts.ts'
import { promptEnding } from '../prompt-path.ts'
import { type Checkout, isInHistory, openCheckout, readFilesOf } from './git.ts'

/** Searches at most this many publications, because each may cost a git call. */
const maxVersions = 50

export interface PublishedSources {
  client: Stet
  /** The folder is compared with live or with the open draft that the lock names. */
  version: Version
  remote: ReadonlyMap<string, RemotePrompt>
  lock: Lock | undefined
  promptsDir: string
}

type RemotePrompt = Pick<UnresolvedPrompt, 'path' | 'contentHash' | 'documentUuid' | 'commitId'>

/**
 * Updates the entries of a stale lock. CI, for example, publishes from this repository and discards its lock. By
 * default, a version is named after the commit that it was pushed from. The newest version whose commit is in this
 * checkout's history is therefore such a publication. If a prompt's text in this version equals its text in the commit,
 * this text is the base of both sides. All other prompts keep the lock's base.
 */
export async function entriesSincePublished(sources: PublishedSources): Promise<Record<string, LockEntry>> {
  const before = sources.lock?.prompts ?? {}
  const published = await findPublished(sources)
  if (!published) return before
  const { client, version, remote, promptsDir } = sources
  const isLive = published.version.uuid === version.uuid
  const then = isLive ? [...remote.values()] : await listPrompts(client, { versionUuid: published.version.uuid })
  const files = await readFilesOf(published.checkout, published.commit, promptsDir, (name) =>
    name.endsWith(promptEnding),
  )
  const isOlder = version.status === 'draft' ? await olderBases(sources, published) : () => true
  const entries = { ...before }
  for (const { path, contentHash, documentUuid } of then) {
    // Skips merged files, which already have a base. Also skips prompts whose base is not older.
    if (entries[path]?.mine !== undefined || !isOlder(path)) continue
    const bytes = files.get(`${path}${promptEnding}`)
    if (bytes && hashBytes(bytes)?.hashes.has(contentHash)) entries[path] = { hash: contentHash, documentUuid }
  }
  return entries
}

interface Publication {
  checkout: Checkout
  version: Version
  commit: string
  /** Versions before the publication. `olderBases` compares the lock with these versions. */
  older: Version[]
}

async function findPublished(sources: PublishedSources): Promise<Publication | undefined> {
  const { client, lock, version: compared, promptsDir } = sources
  const checkout = await openCheckout(promptsDir)
  if (!checkout) return undefined
  const versions = await client.versions.list({ status: 'merged' })
  const numberOf = (uuid: string | null | undefined): number | null | undefined =>
    versions.find((one) => one.uuid === uuid)?.version
  // A draft starts from the version that was live when it was opened. Before the first publication, no version was
  // live.
  const isOpen = compared.status === 'draft'
  const start = isOpen ? compared.parentCommitUuid : lock?.version.uuid
  const known = start === null || start === undefined ? 0 : numberOf(start)
  // The start is not a published version: the lock belongs to a draft and already has its own base.
  if (known === undefined || known === null) return undefined
  const newer = versions
    .filter(({ version }) => (version ?? 0) > known)
    .sort((a, b) => (b.version ?? 0) - (a.version ?? 0))
  for (const version of newer.slice(0, maxVersions)) {
    const [, commit] = /(?:^|@)([0-9a-f]{7,64})$/.exec(version.title) ?? []
    if (commit === undefined || !(await isInHistory(checkout, commit))) continue
    const last = (version.version ?? 0) - 1
    return { checkout, version, commit, older: versions.filter((one) => one.version === known || one.version === last) }
  }
  return undefined
}

/**
 * Returns a function that checks whether a prompt's base in an open draft's lock is older than the publication. A lock
 * has no date. A base is older if it equals the prompt's text in an earlier version. Prompts that the draft itself
 * changed are never older.
 */
async function olderBases(
  { client, version, remote, lock }: PublishedSources,
  { older }: Publication,
): Promise<(path: string) => boolean> {
  const lists = await Promise.all(older.map(({ uuid }) => listPrompts(client, { versionUuid: uuid })))
  const hashes = lists.map((prompts) => new Map(prompts.map(({ path, contentHash }) => [path, contentHash])))
  return (path) => {
    const base = lock?.prompts[path]?.hash
    const there = remote.get(path)
    if (!there || there.commitId === version.id) return false
    return hashes.length === 0 ? base === undefined : hashes.some((held) => held.get(path) === base)
  }
}
