import type { Stet, UnresolvedPrompt, Version } from '@stet/sdk'
import type { Lock, LockEntry } from '../../settings/lock-file.ts'
import { hashBytes } from '../hash.ts'
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
  /** The prompts that differ. */
  paths: readonly string[]
}

type RemotePrompt = Pick<UnresolvedPrompt, 'path' | 'contentHash' | 'documentUuid' | 'commitId'>

/**
 * Updates the entries of a stale lock. CI, for example, publishes from this repository and discards its lock. By
 * default, a version is named after the commit that it was pushed from. A version whose commit is in this checkout's
 * history is therefore such a publication. If a prompt has the same text in this version as in the commit, or is in
 * neither, this is the base of both sides. The newest such publication counts: after a rollback, live and the checkout
 * differ also in later ones. All other prompts keep the lock's base.
 */
export async function entriesSincePublished(sources: PublishedSources): Promise<Record<string, LockEntry>> {
  const { client, version, remote, promptsDir } = sources
  const entries = { ...sources.lock?.prompts }
  // Skips merged files, which already have a base.
  const open = new Set(sources.paths.filter((path) => entries[path]?.mine === undefined))
  for await (const published of findPublished(sources)) {
    const { uuid, revision } = published.version
    // Forced edits came after the publication.
    const ref = revision ? `${uuid}@0` : uuid
    const listed = ref === version.uuid ? [...remote.values()] : (await client.versions.tree(ref)).items
    const then = new Map(listed.map((prompt) => [prompt.path, prompt]))
    const files = await readFilesOf(published.checkout, published.commit, promptsDir, (name) =>
      name.endsWith(promptEnding),
    )
    // The commit has no prompts, or a partial clone lacks them.
    if (files.size === 0) break
    const isOlder = version.status === 'draft' ? await olderBases(sources, published) : () => true
    for (const path of open) {
      const there = then.get(path)
      const bytes = files.get(`${path}${promptEnding}`)
      if (there && bytes && hashBytes(bytes)?.hashes.has(there.contentHash)) {
        if (isOlder(path)) entries[path] = { hash: there.contentHash, documentUuid: there.documentUuid }
      } else if (there || bytes) {
        // A prompt that has neither a base nor a file needs none.
        if (bytes || entries[path]) continue
      } else if (isOlder(path)) delete entries[path]
      open.delete(path)
    }
    if (open.size === 0) break
  }
  return entries
}

/**
 * Drops the entries of a deleted draft that have neither a note of live's text nor a published one. They may be texts of
 * the draft, on top of which live's text would replace the file.
 */
export async function dropUnpublished(
  client: Stet,
  entries: Record<string, LockEntry>,
  noted: Readonly<Record<string, LockEntry>>,
): Promise<void> {
  const open = new Set(Object.keys(entries).filter((path) => noted[path]?.live === undefined))
  const versions = open.size > 0 ? await client.versions.list({ status: 'merged' }) : []
  for (const { uuid } of versions.slice(0, maxVersions)) {
    if (open.size === 0) return
    for (const { path, contentHash } of (await client.versions.tree(uuid)).items) {
      if (entries[path]?.hash === contentHash) open.delete(path)
    }
  }
  for (const path of open) delete entries[path]
}

interface Publication {
  checkout: Checkout
  version: Version
  commit: string
  /** Versions before the publication. `olderBases` compares the lock with these versions. */
  older: Version[]
}

/** Finds publications that are newer than the lock, newest first. */
async function* findPublished(sources: PublishedSources): AsyncGenerator<Publication> {
  const { client, lock, version: compared, promptsDir } = sources
  const checkout = await openCheckout(promptsDir)
  if (!checkout) return
  const versions = await client.versions.list({ status: 'merged' })
  // A draft starts from the version that was live when it was opened. Before the first publication, no version was
  // live.
  const isOpen = compared.status === 'draft'
  const start = isOpen ? compared.parentCommitUuid : lock?.version.uuid
  const known = start ? versions.find(({ uuid }) => uuid === start)?.version : 0
  // The start is not a published version: the lock belongs to a draft and already has its own base.
  if (known === undefined || known === null) return
  const newer = versions
    .filter(({ version }) => (version ?? 0) > known)
    .sort((a, b) => (b.version ?? 0) - (a.version ?? 0))
  for (const version of newer.slice(0, maxVersions)) {
    const [, commit] = /(?:^|@)([0-9a-f]{7,64})$/.exec(version.title) ?? []
    if (commit === undefined || !(await isInHistory(checkout, commit))) continue
    const older = versions.filter((one) => one.version === known || one.uuid === version.baseVersionUuid)
    yield { checkout, version, commit, older }
  }
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
  const trees = await Promise.all(older.map(({ uuid }) => client.versions.tree(uuid)))
  const hashes = trees.map(({ items }) => new Map(items.map(({ path, contentHash }) => [path, contentHash])))
  return (path) => {
    const base = lock?.prompts[path]?.hash
    const there = remote.get(path)
    if (!there || there.commitId === version.id) return false
    return hashes.length === 0 ? base === undefined : hashes.some((held) => held.get(path) === base)
  }
}
