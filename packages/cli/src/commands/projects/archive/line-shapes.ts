/** Reads the values of an archive's lines. An archive may come from anyone, so nothing in it is trusted. */
import {
  type ArchivedChange,
  type ArchivedEvaluation,
  type ArchivedExample,
  type ArchivedProject,
  type ArchivedRevision,
  type ArchivedVersion,
  archiveFormat,
  archiveVersions,
  Refused,
} from './project-archive.ts'

type Fields = Readonly<Record<string, unknown>>

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const hashForm = /^[0-9a-f]{64}$/
const statuses = ['added', 'modified', 'deleted'] as const
const metrics = ['binary', 'rating'] as const

export function readHeader(line: unknown): {
  project: ArchivedProject
  counts: Record<Counted, number>
  live: number | undefined
} {
  const header = fieldsOf(line)
  if (header['format'] !== archiveFormat) throw new Refused('it is a different kind of file')
  const version = archiveVersions.find((known) => known === header['version'])
  if (version === undefined)
    throw new Refused(
      `it has format version ${String(header['version'])}, but this stet reads version ${archiveVersions.at(-1)}`,
    )
  const project = fieldsOf(header['project'])
  const counts = fieldsOf(header['counts'])
  return {
    project: {
      name: text(project, 'name'),
      defaultProvider: optional(project, 'defaultProvider', text),
      defaultModel: optional(project, 'defaultModel', text),
      retentionDays: optional(project, 'retentionDays', whole),
    },
    counts: {
      versions: whole(counts, 'versions'),
      evaluations: whole(counts, 'evaluations'),
      texts: whole(counts, 'texts'),
      examples: whole(counts, 'examples'),
    },
    live: version === 1 ? undefined : whole(header, 'live'),
  }
}

type Counted = 'versions' | 'evaluations' | 'texts' | 'examples'

export function readVersion(line: unknown): ArchivedVersion {
  const version = fieldsOf(fieldsOf(line)['version'])
  const { changes, base, revisions } = version
  if (!Array.isArray(changes) || !(revisions === undefined || Array.isArray(revisions)))
    throw new Refused('the changes of a version are not a list')
  const number = optional(version, 'number', whole)
  const mergedAt = optional(version, 'mergedAt', (fields, key) => formed(fields, key, timeForm))
  if ((number === null) !== (mergedAt === null))
    throw new Refused('a version has either a number or a merge time, but needs both or neither')
  return {
    uuid: formed(version, 'uuid', uuidForm),
    number,
    title: text(version, 'title'),
    description: optional(version, 'description', text),
    parent: optional(version, 'parent', whole),
    ...readWriting(version),
    mergedAt,
    changes: changes.map(readChange),
    ...(base !== undefined && { base: readBase(base) }),
    ...(revisions && { revisions: revisions.map(readRevision) }),
  }
}

function readBase(value: unknown): { number: number; revision: number } {
  const base = fieldsOf(value)
  return { number: whole(base, 'number'), revision: whole(base, 'revision') }
}

function readRevision(value: unknown): ArchivedRevision {
  const revision = fieldsOf(value)
  return {
    revision: whole(revision, 'revision'),
    path: text(revision, 'path'),
    oldHash: optional(revision, 'oldHash', hash),
    hash: hash(revision, 'hash'),
    ...readWriting(revision),
  }
}

function readWriting(fields: Fields): Pick<ArchivedRevision, 'author' | 'createdAt'> {
  const author = fieldsOf(fields['author'])
  return {
    author: { name: text(author, 'name'), email: text(author, 'email') },
    createdAt: formed(fields, 'createdAt', timeForm),
  }
}

function readChange(value: unknown): ArchivedChange {
  const change = fieldsOf(value)
  const status = oneOf(change, 'status', statuses)
  const after = optional(change, 'hash', hash)
  if ((status === 'deleted') !== (after === null))
    throw new Refused('a change needs a hash, and a deletion must not have one')
  const from = change['from'] === undefined ? {} : { from: text(change, 'from') }
  return { path: text(change, 'path'), status, hash: after, ...from, conflict: change['conflict'] === true }
}

export function readEvaluation(line: unknown): ArchivedEvaluation {
  const evaluation = fieldsOf(fieldsOf(line)['evaluation'])
  return {
    uuid: formed(evaluation, 'uuid', uuidForm),
    name: text(evaluation, 'name'),
    description: optional(evaluation, 'description', text),
    metric: oneOf(evaluation, 'metric', metrics),
    path: optional(evaluation, 'path', text),
    configuration: { ...fieldsOf(evaluation['configuration']) },
  }
}

export function readExample(line: unknown): ArchivedExample {
  const example = fieldsOf(fieldsOf(line)['example'])
  const messages = example['messages']
  if (!Array.isArray(messages)) throw new Refused('the messages of an example are not a list')
  return {
    path: text(example, 'path'),
    name: text(example, 'name'),
    parameters: { ...fieldsOf(example['parameters']) },
    // The server checks the form of each message.
    messages,
  }
}

export function textOf(line: unknown, kind: string, key: string): string {
  return text(fieldsOf(fieldsOf(line)[kind]), key)
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Refused('it ends early, or a line is malformed')
}

function optional<T>(fields: Fields, key: string, read: (fields: Fields, key: string) => T): T | null {
  return fields[key] === null ? null : read(fields, key)
}

function text(fields: Fields, key: string): string {
  const value = fields[key]
  // The server stores neither NUL nor lone surrogates.
  if (typeof value === 'string' && !/[\0\p{Cs}]/u.test(value)) return value
  throw new Refused(`"${key}" is not valid text`)
}

function formed(fields: Fields, key: string, form: RegExp): string {
  const value = text(fields, key)
  if (form.test(value)) return value
  throw new Refused(`"${key}" is malformed`)
}

function hash(fields: Fields, key: string): string {
  return formed(fields, key, hashForm)
}

function whole(fields: Fields, key: string): number {
  const value = fields[key]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Refused(`"${key}" is not a whole number`)
}

function oneOf<T extends string>(fields: Fields, key: string, values: readonly T[]): T {
  const found = values.find((value) => value === fields[key])
  if (found !== undefined) return found
  throw new Refused(`"${key}" is none of ${values.join(', ')}`)
}
