/**
 * A whole project as one file: gzip of JSON lines. ADR 63 describes the format. The order of lines and keys is
 * fixed, so that the same project always gives the same bytes.
 */
import { createHash } from 'node:crypto'
import type { Evaluation, Example } from '@stet/sdk'

export const archiveFormat = 'stet-project'
/**
 * The second one has what forced edits and rollbacks add, the third one moves. Older importers refuse it instead of
 * losing that.
 */
export const archiveVersions = [1, 2, 3] as const
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
  /**
   * As published, relative to the previous version as published. For a draft, relative to the live version. Ordered by
   * path.
   */
  changes: readonly ArchivedChange[]
  /** The version that the publication replaced. Absent for a draft, and for the previous version as published. */
  base?: { number: number; revision: number }
  /** Forced edits, oldest first. Absent if there are none. */
  revisions?: readonly ArchivedRevision[]
}

export interface ArchivedRevision {
  /** Dense from 1. */
  revision: number
  path: string
  /** The hash of the replaced text. Null if the edit added the prompt. */
  oldHash: string | null
  hash: string
  author: { name: string; email: string }
  createdAt: string
}

export interface ArchivedChange {
  path: string
  status: 'added' | 'modified' | 'deleted'
  /** The hash of the new text. Null for a deletion. */
  hash: string | null
  /** The path at which the version before has the prompt. Absent if the prompt did not move. */
  from?: string
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
      version: (typeof archiveVersions)[number]
      project: ArchivedProject
      /** From version 2 on. */
      live?: number
      counts: { versions: number; evaluations: number; texts: number; examples: number }
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
  changes: readonly Pick<ArchivedChange, 'path' | 'hash'>[],
): Map<string, string> {
  const next = new Map(state)
  for (const { path, hash } of changes) {
    if (hash === null) next.delete(path)
    else next.set(path, hash)
  }
  return next
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

/** The reason why an archive is invalid. */
export class Refused extends Error {}

/** Checked before a line is parsed, because brackets parse to 30 to 50 times their size. */
export const archiveLimits = {
  /** Packed and unpacked. Its texts stay in memory. */
  bytes: 256 * 1024 * 1024,
  /** A text of 256 KB in which each byte is escaped, or an example, which has the same limit. */
  lineBytes: 2 * 1024 * 1024,
  /** A version that changes about 80,000 prompts. */
  versionLineBytes: 16 * 1024 * 1024,
  /** The server's limit for the parameters of an example, and the levels around them. */
  depth: 72,
  /** Items and members of all lines together. */
  values: 4_000_000,
} as const

export function megabytesOf(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}

const versionStart = Buffer.from('{"version":')

/** @throws Refused if the line is longer than its kind may be */
export function assertLineBytes(line: Buffer, number: number): void {
  const isVersion = line.subarray(0, versionStart.length).equals(versionStart)
  const most = isVersion ? archiveLimits.versionLineBytes : archiveLimits.lineBytes
  if (line.length > most) throw new Refused(`line ${number} is longer than ${megabytesOf(most)}`)
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const starts = [0x5b, 0x7b]
const ends = [0x5d, 0x7d]

/**
 * Counts the items and members of a line of JSON. An empty list or object counts as one.
 * @throws Refused if the line is nested too deep
 */
export function valuesIn(line: Buffer, number: number): number {
  let values = 0
  let depth = 0
  for (let place = 0; place < line.length; place += 1) {
    const byte = line[place] as number
    if (byte === quote) place = endOfString(line, place + 1)
    else if (byte === comma) values += 1
    else if (ends.includes(byte)) depth -= 1
    else if (starts.includes(byte)) {
      values += 1
      depth += 1
      if (depth > archiveLimits.depth)
        throw new Refused(`line ${number} is nested deeper than ${archiveLimits.depth} levels`)
    }
  }
  return values
}

function endOfString(line: Buffer, start: number): number {
  for (let end = line.indexOf(quote, start); end !== -1; end = line.indexOf(quote, end + 1)) {
    let escapes = 0
    while (end - escapes > start && line[end - escapes - 1] === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return line.length
}
