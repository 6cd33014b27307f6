/**
 * The lines of an archive: gzip of JSON lines. ADR 63 describes the format. An archive may come from anyone, so nothing
 * in it is trusted.
 */
import type { Example } from '@stet/sdk'
import { Refused } from './archive-limits.ts'

export const archiveFormat = 'stet-project'
/**
 * The second one has what forced edits and rollbacks add, the third one moves, the fourth one what examples expect. Older
 * importers refuse it instead of losing that.
 */
export const archiveVersions = [1, 2, 3, 4] as const

/** Reads the value of a key. Undefined leaves the key out. @throws Refused */
type Shape<T> = (value: unknown, key: string) => T
type Valued<Shapes> = { [Key in keyof Shapes]: Shapes[Key] extends Shape<infer T> ? T : never }
type OptionalKeys<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T]
type Fields<T> = { [Key in Exclude<keyof T, OptionalKeys<T>>]: T[Key] } & {
  [Key in OptionalKeys<T>]?: Exclude<T[Key], undefined>
}

const text: Shape<string> = (value, key) => {
  // The server stores neither NUL nor lone surrogates.
  if (typeof value === 'string' && !/[\0\p{Cs}]/u.test(value)) return value
  throw new Refused(`"${key}" is not valid text`)
}

const formed =
  (form: RegExp): Shape<string> =>
  (value, key) => {
    if (form.test(text(value, key))) return value as string
    throw new Refused(`"${key}" is malformed`)
  }

const uuid = formed(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
const time = formed(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const hash = formed(/^[0-9a-f]{64}$/)

const whole: Shape<number> = (value, key) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Refused(`"${key}" is not a whole number`)
}

const oneOf =
  <T extends string>(...values: readonly T[]): Shape<T> =>
  (value, key) => {
    const found = values.find((one) => one === value)
    if (found !== undefined) return found
    throw new Refused(`"${key}" is none of ${values.join(', ')}`)
  }

const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, key) =>
    value === null ? null : shape(value, key)

const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value, key) =>
    value === undefined ? undefined : shape(value, key)

const list =
  <T>(shape: Shape<T>, name: string): Shape<T[]> =>
  (value, key) => {
    if (Array.isArray(value)) return value.map((item) => shape(item, key))
    throw new Refused(`the ${name} are not a list`)
  }

const object: Shape<Record<string, unknown>> = (value) => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new Refused('it ends early, or a line is malformed')
}

const record =
  <const Shapes extends Record<string, Shape<unknown>>>(shapes: Shapes): Shape<Fields<Valued<Shapes>>> =>
  (value, key) => {
    const given = object(value, key)
    const read = Object.entries(shapes).map(([name, shape]) => [name, shape(given[name], name)] as const)
    return Object.fromEntries(read.filter(([, one]) => one !== undefined)) as Fields<Valued<Shapes>>
  }

// The server checks the form of each message, check and result.
const anything = (value: unknown) => value
const listOf = <Key extends 'messages' | 'checks'>(name: Key) =>
  list(anything, `${name} of an example`) as Shape<Example[Key]>

const texts: Shape<string[]> = (value) => {
  if (Array.isArray(value) && value.every((tag) => typeof tag === 'string')) return value
  throw new Refused('the tags of an example are not a list of texts')
}

const writing = { author: record({ name: text, email: text }), createdAt: time }

const change = record({
  path: text,
  status: oneOf('added', 'modified', 'deleted'),
  /** The hash of the new text. Null for a deletion. */
  hash: nullable(hash),
  /** The path at which the version before has the prompt. Absent if the prompt did not move. */
  from: optional(text),
  /** True in a draft if the prompt has changed in live since the draft changed it. */
  conflict: (value) => value === true,
})

const revision = record({
  /** Dense from 1. */
  revision: whole,
  path: text,
  /** The hash of the replaced text. Null if the edit added the prompt. */
  oldHash: nullable(hash),
  hash,
  ...writing,
})

const version = record({
  uuid,
  /** Null for a draft. */
  number: nullable(whole),
  title: text,
  description: nullable(text),
  /** The number of the version that was live when this one was created. Null if there was none. */
  parent: nullable(whole),
  ...writing,
  /** Null for a draft. */
  mergedAt: nullable(time),
  /**
   * As published, relative to the previous version as published. For a draft, relative to the live version. Ordered by
   * path.
   */
  changes: list(change, 'changes of a version'),
  /** The version that the publication replaced. Absent for a draft, and for the previous version as published. */
  base: optional(record({ number: whole, revision: whole })),
  /** Forced edits, oldest first. Absent if there are none. */
  revisions: optional(list(revision, 'revisions of a version')),
})

const evaluation = record({
  uuid,
  name: text,
  description: nullable(text),
  metric: oneOf('binary', 'rating'),
  /** The path of its prompt. Null for all prompts. */
  path: nullable(text),
  configuration: object,
})

/** Empty fields of a row are absent. What it expects is absent before version 4. */
const example = record({
  /** The path of its prompt. */
  path: text,
  name: text,
  parameters: object,
  messages: listOf('messages'),
  expected: optional(anything as Shape<Example['expected']>),
  checks: optional(listOf('checks')),
  toolResults: optional(object as Shape<Example['toolResults']>),
  tags: optional(texts),
})

const project = record({
  name: text,
  defaultProvider: nullable(text),
  defaultModel: nullable(text),
  retentionDays: nullable(whole),
})
const counts = record({ versions: whole, evaluations: whole, texts: whole, examples: whole })

export type ArchivedProject = ReturnType<typeof project>
export type ArchivedVersion = ReturnType<typeof version>
export type ArchivedRevision = ReturnType<typeof revision>
export type ArchivedChange = ReturnType<typeof change>
export type ArchivedEvaluation = ReturnType<typeof evaluation>
export type ArchivedExample = ReturnType<typeof example>

export type ArchiveLine =
  | {
      format: typeof archiveFormat
      version: (typeof archiveVersions)[number]
      project: ArchivedProject
      /** From version 2 on. */
      live?: number
      counts: ReturnType<typeof counts>
    }
  | { text: { hash: string; content: string } }
  | { version: ArchivedVersion }
  | { evaluation: ArchivedEvaluation }
  | { example: ArchivedExample }
  /** The hash of all bytes before this line. */
  | { end: { sha256: string } }

export function readHeader(line: unknown) {
  const header = object(line, '')
  if (header['format'] !== archiveFormat) throw new Refused('it is a different kind of file')
  const known = archiveVersions.find((one) => one === header['version'])
  if (known === undefined)
    throw new Refused(
      `it has format version ${String(header['version'])}, but this stet reads version ${archiveVersions.at(-1)}`,
    )
  return {
    project: project(header['project'], 'project'),
    counts: counts(header['counts'], 'counts'),
    live: known === 1 ? undefined : whole(header['live'], 'live'),
  }
}

export function readVersion(line: unknown): ArchivedVersion {
  const read = version(object(line, '')['version'], 'version')
  if ((read.number === null) !== (read.mergedAt === null))
    throw new Refused('a version has either a number or a merge time, but needs both or neither')
  if (read.changes.some(({ status, hash: after }) => (status === 'deleted') !== (after === null)))
    throw new Refused('a change needs a hash, and a deletion must not have one')
  return read
}

export const readEvaluation = (line: unknown) => evaluation(object(line, '')['evaluation'], 'evaluation')
export const readExample = (line: unknown) => example(object(line, '')['example'], 'example')
export const readText = (line: unknown) => record({ hash: text, content: text })(object(line, '')['text'], 'text')
export const readEnd = (line: unknown) => record({ sha256: text })(object(line, '')['end'], 'end')
