/** Reads the steps of a range in pieces: each is one statement over at most a day of facts, or less of a busy day. */
import { LRUCache } from 'lru-cache'
import { heldBytes } from '../../shared/json-limits.ts'
import type { Needs } from '../deps.ts'
import type { Piece, Span, StatsDeps, StatsStore, StepCell } from './ports.ts'

export type PieceDeps = Needs<'stats'>

export const smallestSeconds = 300
export const hourSeconds = 3_600
export const daySeconds = 86_400
/** An end is stored with the time at which its transaction began. */
export const closingMs = 600_000

const mostPieceBytes = 16 * 1_024 * 1_024
const entryBytes = 200

export function createStatsDeps(store: StatsStore, inTurn: StatsDeps['inTurn']): StatsDeps {
  return {
    store,
    inTurn,
    mostFacts: 50_000,
    pieces: new LRUCache({
      maxSize: mostPieceBytes,
      sizeCalculation: (steps, key) => heldBytes(steps) + 2 * key.length + entryBytes,
    }),
  }
}

/**
 * Reads the steps in the given spans, each of an hour or a day.
 * @param now the time of the database. Pieces that have ended before it are kept.
 */
export async function readPieces(
  { stats }: PieceDeps,
  place: Piece,
  { spans, now }: { spans: readonly Span[]; now: number },
): Promise<StepCell[]> {
  const pieces = spans.map((span) => ({ ...place, ...span }))
  const missing = pieces.filter((piece) => !stats.pieces.has(keyOf(piece)))
  const counts = await countFacts({ stats }, missing)
  const read = new Map<Piece, readonly StepCell[]>()
  for (const [at, piece] of missing.entries()) {
    const steps = await sumCounted({ stats }, piece, counts[at] ?? 0)
    read.set(piece, steps)
    if (piece.to + closingMs <= now) stats.pieces.set(keyOf(piece), steps)
  }
  return pieces.flatMap((piece) => read.get(piece) ?? stats.pieces.get(keyOf(piece)) ?? [])
}

/** Sums all facts of a piece of at most a day. */
export async function sumFacts(deps: PieceDeps, piece: Piece): Promise<StepCell[]> {
  const [count = 0] = await countFacts(deps, [piece])
  return sumCounted(deps, piece, count)
}

async function countFacts({ stats }: PieceDeps, pieces: readonly Piece[]): Promise<number[]> {
  const [first] = pieces
  return first ? stats.store.countFacts(first, pieces, stats.mostFacts + 1) : []
}

async function sumCounted({ stats }: PieceDeps, piece: Piece, count: number): Promise<StepCell[]> {
  if (count === 0) return []
  const length = piece.to - piece.from
  const partMs = (length > hourSeconds * 1_000 ? hourSeconds : smallestSeconds) * 1_000
  if (count <= stats.mostFacts || length <= partMs) return stats.store.sumPiece(piece)
  const parts = spansOf(piece, partMs).map((span) => ({ ...piece, ...span }))
  const counts = await countFacts({ stats }, parts)
  const steps: StepCell[] = []
  for (const [at, part] of parts.entries()) steps.push(...(await sumCounted({ stats }, part, counts[at] ?? 0)))
  return steps
}

/** Divides a span into whole parts since 1970. The first and last may begin before it and end after it. */
export function spansOf({ from, to }: Span, lengthMs: number): Span[] {
  const spans: Span[] = []
  for (let start = Math.floor(from / lengthMs) * lengthMs; start < to; start += lengthMs) {
    spans.push({ from: start, to: start + lengthMs })
  }
  return spans
}

function keyOf({ projectId, documentUuid = '', by, stepSeconds, from, to }: Piece): string {
  return [projectId, documentUuid, by, stepSeconds, from, to].join(' ')
}

// Node 20 has no Map.groupBy.
export function groupBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
