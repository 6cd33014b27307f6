/**
 * A whole project as one file: gzip of JSON lines. `docs/moving.md` describes the format. The order of lines and keys is
 * fixed, so that the same project always gives the same bytes.
 */
import { createHash } from 'node:crypto'
import type { Evaluation, Example } from '@stet/sdk'

export const archiveFormat = 'stet-project'
export const archiveVersion = 1
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
}

export interface ArchivedProject {
  name: string
  defaultProvider: string | null
  defaultModel: string | null
  retentionDays: number | null
}

export interface ArchivedVersion {
  uuid: string
  /** Null for a draft. */
  number: number | null
  title: string
  description: string | null
  /** The number of the version that was live when this one was created. Null if there was none. */
  parent: number | null
  author: { name: string; email: string }
  createdAt: string
  /** Null for a draft. */
  mergedAt: string | null
  /** Relative to the previous version. For a draft, relative to the last merged version. Ordered by path. */
  changes: readonly ArchivedChange[]
}

export interface ArchivedChange {
  path: string
  status: 'added' | 'modified' | 'deleted'
  /** The hash of the new text. Null for a deletion. */
  hash: string | null
  /** True in a draft if the prompt has changed in live since the draft changed it. */
  conflict: boolean
}

export interface ArchivedEvaluation extends Pick<Evaluation, 'uuid' | 'name' | 'description' | 'metric'> {
  /** The path of its prompt. Null for all prompts. */
  path: string | null
  configuration: Record<string, unknown>
}

export interface ArchivedExample extends Pick<Example, 'name' | 'parameters' | 'messages'> {
  /** The path of its prompt. */
  path: string
}

export type ArchiveLine =
  | {
      format: typeof archiveFormat
      version: typeof archiveVersion
      project: ArchivedProject
      /** Archives of earlier releases have no examples. */
      counts: { versions: number; evaluations: number; texts: number; examples?: number }
    }
  | { text: { hash: string; content: string } }
  | { version: ArchivedVersion }
  | { evaluation: ArchivedEvaluation }
  | { example: ArchivedExample }
  /** The hash of all bytes before this line. */
  | { end: { sha256: string } }

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns the hash at each path after the change. */
export function applyChanges(
  state: ReadonlyMap<string, string>,
  changes: readonly ArchivedChange[],
): Map<string, string> {
  const next = new Map(state)
  for (const { path, hash } of changes) {
    if (hash === null) next.delete(path)
    else next.set(path, hash)
  }
  return next
}

/** Returns the hash at each path of the last merged version. */
export function liveOf({ versions }: Pick<ProjectArchive, 'versions'>): Map<string, string> {
  return versions
    .filter(({ number }) => number !== null)
    .reduce((state, { changes }) => applyChanges(state, changes), new Map<string, string>())
}

export function isDraft({ number }: ArchivedVersion): boolean {
  return number === null
}
