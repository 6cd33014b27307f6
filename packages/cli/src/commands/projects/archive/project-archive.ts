/** A whole project as one file. */
import { createHash } from 'node:crypto'
import type {
  ArchivedChange,
  ArchivedEvaluation,
  ArchivedExample,
  ArchivedProject,
  ArchivedVersion,
} from './archive-lines.ts'

export const archiveEnding = '.stet.gz'

export interface ProjectArchive {
  project: ArchivedProject
  /** Merged versions by number from 1, then drafts, oldest first. */
  versions: readonly ArchivedVersion[]
  /** Oldest first. */
  evaluations: readonly ArchivedEvaluation[]
  /** By path, and for each prompt in the order in which they were created. */
  examples: readonly ArchivedExample[]
  /** Contents by hash. */
  texts: ReadonlyMap<string, string>
  /** The number of the version that is live; 0 if none is. */
  live: number
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Changes the hashes at each path as the changes do. */
export function applyChanges(
  state: Map<string, string>,
  changes: readonly Pick<ArchivedChange, 'path' | 'hash'>[],
): Map<string, string> {
  for (const { path, hash } of changes) {
    if (hash === null) state.delete(path)
    else state.set(path, hash)
  }
  return state
}

type History = Pick<ProjectArchive, 'versions' | 'live'>

/** Returns the hash at each path of a version as it was published. */
export function publishedAt({ versions }: Pick<History, 'versions'>, number: number): Map<string, string> {
  return applyChanges(
    new Map(),
    versions.slice(0, number).flatMap(({ changes }) => changes),
  )
}

/** Returns the prompt at each path of a version as it was published. A moved prompt is the same one. */
export function promptsAt({ versions }: Pick<History, 'versions'>, number: number): Map<string, symbol> {
  let prompts = new Map<string, symbol>()
  for (const { changes } of versions.slice(0, number)) {
    const left = new Set(changes.map(({ from }) => from))
    const next = new Map(prompts)
    for (const { path, hash, from } of changes) {
      const moved = from === undefined ? undefined : prompts.get(from)
      const kept = left.has(path) ? undefined : prompts.get(path)
      if (hash === null) next.delete(path)
      else next.set(path, moved ?? kept ?? Symbol(path))
    }
    prompts = next
  }
  return prompts
}

/** Returns the hash at each path of live. */
export function liveOf(archive: History): Map<string, string> {
  return applyChanges(publishedAt(archive, archive.live), archive.versions[archive.live - 1]?.revisions ?? [])
}

export function isDraft({ number }: ArchivedVersion): boolean {
  return number === null
}
