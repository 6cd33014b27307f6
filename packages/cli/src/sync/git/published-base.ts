import type { Prompt, Stet, Version } from '@stet/sdk'
import type { Lock, LockEntry } from '../../settings/lock-file.ts'
import { hashBytes } from '../hash.ts'
import { promptEnding } from '../prompt-path.ts'
import { git, isInHistory, readFilesOf } from './git.ts'

/** Older publications than these are no longer looked at: each may cost a call of git. */
const maxVersions = 50

/** Where a base may come from. */
export interface PublishedSources {
  client: Stet
  /** What the folder is compared with: the live version, or the open draft that the lock names. */
  version: Version
  /** Its prompts. */
  remote: ReadonlyMap<string, RemotePrompt>
  lock: Lock | undefined
  promptsDir: string
}

type RemotePrompt = Pick<Prompt, 'path' | 'contentHash' | 'documentUuid' | 'commitId'>

/**
 * The entries of a lock that fell behind: somebody published from this repository and threw the lock away, as CI does.
 * Versions are named after the commit that they were pushed from. The newest one whose commit is in the history of this
 * checkout is such a publication, and where it holds the very text of that commit, that text is the base: both sides went
 * on from it. What it holds otherwise came from elsewhere, and keeps the base of the lock.
 */
export async function entriesSincePublished(sources: PublishedSources): Promise<Record<string, LockEntry>> {
  const before = sources.lock?.prompts ?? {}
  const published = await findPublished(sources)
  if (!published) return before
  const { client, version, remote, promptsDir } = sources
  const isLive = published.version.uuid === version.uuid
  const then = isLive ? [...remote.values()] : await client.prompts.list({ versionUuid: published.version.uuid })
  const files = await readFilesOf(published.commit, promptsDir, (name) => name.endsWith(promptEnding))
  const isOlder = version.status === 'draft' ? await olderBases(sources, published) : () => true
  const entries = { ...before }
  for (const { path, contentHash, documentUuid } of then) {
    // A conflict that is being settled has its base already.
    if (entries[path]?.theirs !== undefined || !isOlder(path)) continue
    const bytes = files.get(`${path}${promptEnding}`)
    if (bytes && hashBytes(bytes)?.hashes.has(contentHash)) entries[path] = { hash: contentHash, documentUuid }
  }
  return entries
}

/** A version that was published from this repository. */
interface Publication {
  version: Version
  commit: string
  /** Versions from before it that tell what a lock of that time held. */
  older: Version[]
}

async function findPublished(sources: PublishedSources): Promise<Publication | undefined> {
  const { client, lock, version: compared, promptsDir } = sources
  const isCheckout = await git(promptsDir, 'rev-parse', 'HEAD').catch(() => undefined)
  if (isCheckout === undefined) return undefined
  const versions = await client.versions.list({ status: 'merged' })
  const numberOf = (uuid: string | null | undefined): number | null | undefined =>
    versions.find((one) => one.uuid === uuid)?.version
  // A draft lies over the version that was live when it was opened; before the first one there was nothing.
  const isOpen = compared.status === 'draft'
  const start = isOpen ? compared.parentCommitUuid : lock?.version.uuid
  const known = start === null || start === undefined ? 0 : numberOf(start)
  // A lock of a draft, compared with live, has a base of its own.
  if (known === undefined || known === null) return undefined
  const newer = versions
    .filter(({ version }) => (version ?? 0) > known)
    .sort((a, b) => (b.version ?? 0) - (a.version ?? 0))
  for (const version of newer.slice(0, maxVersions)) {
    const [, commit] = /(?:^|@)([0-9a-f]{7,64})$/.exec(version.title) ?? []
    if (commit === undefined || !(await isInHistory(promptsDir, commit))) continue
    const last = (version.version ?? 0) - 1
    return { version, commit, older: versions.filter((one) => one.version === known || one.version === last) }
  }
  return undefined
}

/**
 * Says of which prompts the lock of an open draft holds an older base than a publication. The lock does not tell when it was
 * written: it holds the text of a version from before the publication, or it is not older. What the draft changes by itself
 * did not come from any publication.
 */
async function olderBases(
  { client, version, remote, lock }: PublishedSources,
  { older }: Publication,
): Promise<(path: string) => boolean> {
  const lists = await Promise.all(older.map(({ uuid }) => client.prompts.list({ versionUuid: uuid })))
  const hashes = lists.map((prompts) => new Map(prompts.map(({ path, contentHash }) => [path, contentHash])))
  return (path) => {
    const base = lock?.prompts[path]?.hash
    const there = remote.get(path)
    if (!there || there.commitId === version.id) return false
    return hashes.length === 0 ? base === undefined : hashes.some((held) => held.get(path) === base)
  }
}
