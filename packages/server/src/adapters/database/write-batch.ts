import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { SqlSession, SqlStatement } from '@stet/embedded-postgres/sql-session'
import { isUnavailable } from '../../shared/app-error.ts'
import { heldBytes } from '../../shared/json-limits.ts'
import type { Span } from '../../shared/telemetry.ts'

/** Bounds of the interval between the starts of two batches. `fullBatch` waiting calls end the interval early. */
const loadIntervalMs = { least: 5, most: 20 }
/** The interval as a multiple of the last commit's duration. With 2, the database is busy half of the time. */
const loadIntervalCommits = 2
/** The number of `write` and `writeTogether` calls that fill a batch. */
const fullBatch = 500
/** Limits a batch too. The embedded database needs several times the size of its input and never frees memory. */
const fullBatchBytes = 2_097_152
/** A call with more bytes is written alone, and a workspace gets this many bytes of a batch before the others have theirs. */
const largeBytes = 131_072

/** How long the latest batch proves that the database is available. */
const proofMs = 1_000

interface BatchStatement extends SqlStatement {
  returnsKeys?: boolean
}

/** Workspaces take turns. The calls of one workspace are written in order. */
export interface OwnedRow {
  workspaceId: number
}

export interface RowKind<Row> {
  name: string
  /** Lower orders run first within a batch, so that a row is inserted before rows that reference it. */
  order: number
  /** Identifies a row within its kind. Two calls with the same key never share a batch. */
  key(row: Row): string
  /**
   * With `returnsKeys`, the statement returns a text column `key`. A row whose key is missing from the result lost its
   * compare-and-set. Without `returnsKeys`, every row counts as written.
   */
  statement(rows: readonly Row[]): BatchStatement
}

/** Group commit: combines rows of many callers in one transaction, with one statement per kind. */
export interface WriteBatch {
  /** Resolves after the commit. Returns false if a compare-and-set lost. @param span the parent of the batch's span. */
  write<Row extends OwnedRow>(kind: RowKind<Row>, row: Row, span?: Span | undefined): Promise<boolean>
  /** Writes all rows atomically. Resolves after the commit with one result per row. */
  writeTogether<Row extends OwnedRow>(
    kind: RowKind<Row>,
    rows: readonly Row[],
    span?: Span | undefined,
  ): Promise<boolean[]>
  /** True if no batch reached the database within `proofMs`, or if it was unavailable for the latest batch. */
  isInDoubt(): boolean
  flush(): Promise<void>
}

interface Group {
  kind: RowKind<unknown>
  rows: readonly unknown[]
  /** The kind and key of each row. Groups with a common key are written in order, in separate batches. */
  keys: readonly string[]
  bytes: number
  span: Span | undefined
  resolve(written: boolean[]): void
  reject(error: unknown): void
}

export interface BatchMetrics {
  /** @param batch `seconds` is the time from sending to the commit or the failure. */
  batchEnded(batch: { rows: number; seconds: number; isCommitted: boolean }): void
}

export interface WriteBatchOptions {
  metrics?: BatchMetrics | undefined
  /** Called with the size in memory of each call's rows, before they are written. */
  onAdded?: ((workspaceId: number, bytes: number) => void) | undefined
}

/** Writes immediately when idle. Under load, writes a batch every few milliseconds. */
export function createWriteBatch(session: SqlSession, { metrics, onAdded }: WriteBatchOptions = {}): WriteBatch {
  const waiting: Queues = new Map()
  let count = 0
  let wasLarge = false
  let draining: Promise<void> | undefined
  let mayStartAt = Number.NEGATIVE_INFINITY
  let provenAt = Number.NEGATIVE_INFINITY

  const drain = async () => {
    // Collects this turn's rows. Also lets this turn's provider requests start before the database uses a core.
    await nextTurn()
    while (count > 0) {
      const rest = mayStartAt - performance.now()
      if (rest > 0 && count < fullBatch) await delay(rest)
      const start = performance.now()
      const taken = takeBatch(waiting, !wasLarge)
      count -= taken.length
      wasLarge = (taken[0]?.bytes ?? 0) > largeBytes
      let rows = 0
      for (const group of taken) rows += group.rows.length
      const spans: Span[] = []
      for (const { kind, span } of taken) {
        if (span) spans.push(span.child('database batch', batchAttributes(kind.name, rows, taken.length), 'client'))
      }
      const isStored = await commitBatch(session, taken)
      const end = performance.now()
      provenAt = isStored ? end : Number.NEGATIVE_INFINITY
      for (const span of spans) span.end(isStored ? undefined : 'unavailable')
      metrics?.batchEnded({ rows, seconds: (end - start) / 1000, isCommitted: isStored })
      const { least, most } = loadIntervalMs
      const share = taken.length > 1 ? Math.min(most, loadIntervalCommits * (end - start)) : 0
      mayStartAt = start + Math.max(least, share)
    }
    draining = undefined
  }

  const writeTogether = <Row extends OwnedRow>(kind: RowKind<Row>, rows: readonly Row[], span?: Span | undefined) =>
    new Promise<boolean[]>((resolve, reject) => {
      // Measured here, so that only this call fails if a row cannot be measured. `drain` must never throw.
      const keys = rows.map((row) => `${kind.name}\n${kind.key(row)}`)
      const [first] = rows
      const workspace = first?.workspaceId ?? 0
      const bytes = heldBytes(rows)
      onAdded?.(workspace, bytes)
      const group = { kind: kind as RowKind<unknown>, rows, keys, bytes, span, resolve, reject }
      const queue = waiting.get(workspace)
      if (queue) queue.push(group)
      else waiting.set(workspace, [group])
      count += 1
      draining ??= drain()
    })

  return {
    writeTogether,
    write: async (kind, row, span) => (await writeTogether(kind, [row], span))[0] === true,
    isInDoubt: () => performance.now() - provenAt >= proofMs,
    flush: () => draining ?? Promise.resolve(),
  }
}

/** Each traced writer gets a span of its own, so that every trace contains its batches. */
function batchAttributes(kind: string, rows: number, writers: number) {
  return {
    'db.system.name': 'postgresql',
    'db.operation.name': 'batch',
    'stet.batch.kind': kind,
    'stet.batch.rows': rows,
    'stet.batch.writers': writers,
  }
}

/** The waiting groups of each workspace, in the order of their turns. */
type Queues = Map<number, Group[]>

/**
 * Takes one large group, or small groups of all workspaces. The two alternate, so that a small group waits for one large
 * one at most. Without turns, 12 senders of 3.8 MB delayed the runs of every other workspace by 1.6 s.
 */
function takeBatch(queues: Queues, isLargeDue: boolean): Group[] {
  const taken: Group[] = []
  if (isLargeDue) {
    for (const [workspace, [first, ...left]] of queues) {
      if (!first || first.bytes <= largeBytes) continue
      queues.delete(workspace)
      if (left.length > 0) queues.set(workspace, left)
      return [first]
    }
  }
  const keys = new Set<string>()
  let bytes = 0
  for (let before = -1; before < taken.length; ) {
    before = taken.length
    for (const [workspace, queue] of [...queues]) {
      let [count, own] = [0, 0]
      for (const group of queue) {
        const isFull = taken.length >= fullBatch || (taken.length > 0 && bytes + group.bytes > fullBatchBytes)
        const isOver = count > 0 && own + group.bytes > largeBytes
        let isRepeated = false
        for (const key of group.keys) isRepeated ||= keys.has(key)
        if (isFull || isOver || isRepeated || group.bytes > largeBytes) break
        taken.push(group)
        for (const key of group.keys) keys.add(key)
        bytes += group.bytes
        own += group.bytes
        count += 1
      }
      if (count === 0) continue
      queues.delete(workspace)
      if (count < queue.length) queues.set(workspace, queue.slice(count))
    }
  }
  return taken.length > 0 ? taken : takeBatch(queues, true)
}

async function commitBatch(session: SqlSession, groups: readonly Group[]): Promise<boolean> {
  try {
    const won = await writeGroups(session, groups)
    for (const { kind, rows, resolve } of groups) {
      const keys = won.get(kind)
      const results: boolean[] = []
      for (const row of rows) results.push(keys === undefined || keys.has(kind.key(row)))
      resolve(results)
    }
    return true
  } catch (error) {
    const isAway = isUnavailable(error)
    // On a disk that is almost full, the groups that may use the reserve still succeed.
    if (groups.length === 1 || (isAway && error.reason !== 'disk-full')) {
      for (const group of groups) group.reject(error)
      return !isAway
    }
    // The database rejected at least one group. Each group is written alone, so that the others succeed.
    let isThere = true
    for (const group of groups) isThere = await commitBatch(session, [group])
    return isThere
  }
}

async function writeGroups(
  session: SqlSession,
  groups: readonly Group[],
): Promise<Map<RowKind<unknown>, ReadonlySet<unknown>>> {
  const rowsOf = new Map<RowKind<unknown>, unknown[]>()
  for (const { kind, rows } of groups) {
    const own = rowsOf.get(kind)
    if (own) own.push(...rows)
    else if (rows.length > 0) rowsOf.set(kind, [...rows])
  }
  const kinds = [...rowsOf.keys()].sort((one, other) => one.order - other.order)
  const statements: BatchStatement[] = []
  for (const kind of kinds) statements.push(kind.statement(rowsOf.get(kind) ?? []))
  const results = await session.batch(statements)
  const won = new Map<RowKind<unknown>, ReadonlySet<unknown>>()
  for (const [place, kind] of kinds.entries()) {
    if (statements[place]?.returnsKeys !== true) continue
    const keys = new Set<unknown>()
    for (const row of results[place] ?? []) keys.add(row['key'])
    won.set(kind, keys)
  }
  return won
}
