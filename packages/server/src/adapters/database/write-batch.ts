import { setImmediate as nextTurn } from 'node:timers/promises'
import { isUnavailable } from '../../shared/app-error.ts'
import { heldBytes } from '../../shared/text/held-bytes.ts'
import type { SqlSession } from './sql-session.ts'

/** The shortest and longest time between two commits under load. Rows that arrive meanwhile share the next one. */
const LOAD_INTERVAL_MS = { least: 5, most: 20 }
/** Rows share the fixed cost of a commit: under load the database gets half of the time, and batches grow. */
const LOAD_INTERVAL_COMMITS = 2
/** A full batch does not wait. Also bounds the number of parameters of one statement. */
const FULL_BATCH = 500
/**
 * A batch of this size does not wait either, and a larger row is written alone: the embedded database needs several
 * times the size of what it receives, and never returns memory.
 */
const FULL_BATCH_BYTES = 2_097_152

/** For how long a commit is evidence that the database stores rows. */
const PROOF_MS = 1_000

/** A kind of write whose rows share one statement. */
export interface RowKind<Row> {
  name: string
  /** Kinds run in this order within a batch: an insert before what refers to it. */
  order: number
  /** Identifies a row within its kind. Two rows with the same key never share a batch. */
  key(row: Row): string
  /**
   * The statement for these rows. With `RETURNING … AS key` (text) a row counts as written when its key comes back:
   * this is how a compare-and-set learns whether it won. Otherwise every row counts as written.
   */
  statement(rows: readonly Row[]): { sql: string; params: readonly unknown[]; returnsKeys?: boolean }
}

/** One row of some kind, sealed by `batchEntry`. */
export interface BatchEntry {
  readonly kind: RowKind<unknown>
  readonly row: unknown
}

export function batchEntry<Row>(kind: RowKind<Row>, row: Row): BatchEntry {
  return { kind: kind as RowKind<unknown>, row }
}

/** Group commit: rows of many callers in one transaction, one statement per kind. */
export interface WriteBatch {
  /** Resolves after the commit; false when a compare-and-set lost. */
  write<Row>(kind: RowKind<Row>, row: Row): Promise<boolean>
  /** Writes all rows or none. Resolves after the commit, with one result per row. */
  writeTogether(entries: readonly BatchEntry[]): Promise<boolean[]>
  /** The latest batch was committed, less than `PROOF_MS` ago: rows handed in now will very probably be stored. */
  isProven(): boolean
  /** Resolves when all earlier rows have been committed or refused. */
  flush(): Promise<void>
}

interface Group {
  entries: readonly BatchEntry[]
  resolve(written: boolean[]): void
  reject(error: unknown): void
}

/** A write batch on `session`: idle, a row is written at once; under load, batches leave every few milliseconds. */
export function createWriteBatch(session: SqlSession): WriteBatch {
  let waiting: Group[] = []
  let draining: Promise<void> | undefined
  let mayStartAt = Number.NEGATIVE_INFINITY
  let provenAt = Number.NEGATIVE_INFINITY

  const drain = async () => {
    // Includes the rows of this turn, and lets its provider calls leave before the database takes a core.
    await nextTurn()
    while (waiting.length > 0) {
      const rest = mayStartAt - performance.now()
      if (rest > 0 && waiting.length < FULL_BATCH) await new Promise((done) => setTimeout(done, rest))
      const start = performance.now()
      const batch = takeBatch(waiting)
      waiting = waiting.filter((group) => !batch.has(group))
      provenAt = (await commitBatch(session, [...batch])) ? performance.now() : Number.NEGATIVE_INFINITY
      mayStartAt = start + intervalAfter(batch.size, performance.now() - start)
    }
    draining = undefined
  }

  const writeTogether = (entries: readonly BatchEntry[]) =>
    new Promise<boolean[]>((resolve, reject) => {
      waiting.push({ entries, resolve, reject })
      draining ??= drain()
    })

  return {
    writeTogether,
    write: async (kind, row) => (await writeTogether([batchEntry(kind, row)]))[0] === true,
    isProven: () => performance.now() - provenAt < PROOF_MS,
    flush: () => draining ?? Promise.resolve(),
  }
}

/** Time from the start of a batch that took `durationMs` to the start of the next. A single row is not load. */
function intervalAfter(groups: number, durationMs: number): number {
  const { least, most } = LOAD_INTERVAL_MS
  return groups > 1 ? Math.max(least, Math.min(most, LOAD_INTERVAL_COMMITS * durationMs)) : least
}

function nameOf(kind: { name: string }, key: string): string {
  return `${kind.name}\n${key}`
}

/** Takes groups from the front; the order per key is kept. */
function takeBatch(waiting: readonly Group[]): Set<Group> {
  const taken = new Set<Group>()
  const keys = new Set<string>()
  let bytes = 0
  for (const group of waiting) {
    bytes += heldBytes(group.entries)
    if (taken.size >= FULL_BATCH || (taken.size > 0 && bytes > FULL_BATCH_BYTES)) break
    const own = group.entries.map(({ kind, row }) => nameOf(kind, kind.key(row)))
    if (!own.some((key) => keys.has(key))) taken.add(group)
    for (const key of own) keys.add(key)
  }
  return taken
}

/** False if the database was unavailable. */
async function commitBatch(session: SqlSession, groups: readonly Group[]): Promise<boolean> {
  try {
    const entries = groups.flatMap((group) => group.entries)
    const written = await writeEntries(session, entries)
    for (const group of groups) group.resolve(group.entries.map((entry) => written.get(entry) === true))
    return true
  } catch (error) {
    const [only, ...others] = groups
    if (only !== undefined && (others.length === 0 || isUnavailable(error))) {
      for (const group of groups) group.reject(error)
      return !isUnavailable(error)
    }
    // One of them is refused. Writing each alone keeps the others from failing with it.
    let isThere = true
    for (const group of groups) isThere = await commitBatch(session, [group])
    return isThere
  }
}

async function writeEntries(session: SqlSession, entries: readonly BatchEntry[]): Promise<Map<BatchEntry, boolean>> {
  const kinds = [...new Set(entries.map(({ kind }) => kind))].sort((one, other) => one.order - other.order)
  const parts = kinds.map((kind) => {
    const own = entries.filter((entry) => entry.kind === kind)
    return { kind, own, statement: kind.statement(own.map(({ row }) => row)) }
  })
  const results = await session.batch(parts.map(({ statement }) => statement))
  const written = new Map<BatchEntry, boolean>()
  for (const [place, { kind, own, statement }] of parts.entries()) {
    const keys = new Set(results[place]?.map((row) => row['key']))
    for (const entry of own) written.set(entry, statement.returnsKeys !== true || keys.has(kind.key(entry.row)))
  }
  return written
}
