/** Reads the steps of a range in pieces: each is one statement over at most a day of facts, or less of a busy day. */
import { LRUCache } from 'lru-cache'
import { heldBytes } from '../../shared/json-limits.ts'
import type { Needs } from '../deps.ts'
import { type Histogram, lastBin } from './cell.ts'
import type { PackedSteps, Piece, Span, StatsDeps, StatsStore, StepCell } from './ports.ts'

export type PieceDeps = Needs<'stats'>

export const smallestSeconds = 300
export const hourSeconds = 3_600
export const daySeconds = 86_400
/** An end is stored with the time at which its transaction began. */
export const closingMs = 600_000

type ReadStored = (missing: readonly Span[]) => Promise<ReadonlyMap<number, StepCell[]>>

const mostPieceBytes = 16 * 1_024 * 1_024
const entryBytes = 200

export function createStatsDeps(store: StatsStore, inTurn: StatsDeps['inTurn']): StatsDeps {
  return {
    store,
    inTurn,
    mostFacts: 50_000,
    pieces: new LRUCache({
      maxSize: mostPieceBytes,
      sizeCalculation: ({ texts, numbers }, key) => numbers.byteLength + heldBytes(texts) + 2 * key.length + entryBytes,
    }),
  }
}

/**
 * Reads the steps in the given spans, each of an hour or a day.
 * @param now the time of the database. Pieces that have ended before it are kept.
 * @param readStored the steps that need not be summed, by their start
 */
export async function readPieces(
  { stats }: PieceDeps,
  place: Piece,
  { spans, now, readStored }: { spans: readonly Span[]; now: number; readStored?: ReadStored },
): Promise<StepCell[]> {
  const pieces = spans.map((span) => ({ ...place, ...span }))
  // Taken first, because a piece that is read may displace a kept one.
  const kept = pieces.map((piece) => stats.pieces.get(keyOf(piece)))
  const missing = pieces.filter((_, at) => !kept[at])
  const known = missing.length > 0 ? await readStored?.(missing) : undefined
  const counted = missing.filter(({ from }) => !known?.has(from))
  const counts = await countFacts({ stats }, counted)
  const read: StepCell[] = []
  for (const piece of missing) {
    const steps = known?.get(piece.from) ?? (await sumCounted({ stats }, piece, counts[counted.indexOf(piece)] ?? 0))
    for (const step of steps) read.push(step)
    if (isClosed(piece, now)) stats.pieces.set(keyOf(piece), packSteps(steps))
  }
  return [...kept.flatMap((packed) => (packed ? unpackSteps(packed) : [])), ...read]
}

export function isClosed({ to }: Span, now: number): boolean {
  return to + closingMs <= now
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

const bins = lastBin + 1

/** Numbers take a third of the bytes of the cells, whose keys repeat in each hour. */
function packSteps(steps: readonly StepCell[]): PackedSteps {
  const texts = [...new Set(steps.flatMap(({ via, prompt, key }) => [via, prompt, key]))]
  const placeOf = new Map(texts.map((text, place) => [text, place]))
  const packed = (histogram: Histogram) => {
    const entries = Object.entries(histogram)
    return [entries.length, ...entries.map(([bin, runs]) => runs * bins + Number(bin))]
  }
  const numbers = steps.flatMap(({ at, via, prompt, key, cell: [counts, durations, firstTokens] }) => [
    ...[at, ...[via, prompt, key].map((text) => placeOf.get(text) ?? 0)],
    ...[counts.length, ...counts, ...packed(durations), ...packed(firstTokens)],
  ])
  return { texts, numbers: Float64Array.from(numbers) }
}

function unpackSteps({ texts, numbers }: PackedSteps): StepCell[] {
  const steps: StepCell[] = []
  let place = 0
  const next = () => numbers[place++] ?? 0
  const nextText = () => texts[next()] ?? ''
  const nextHistogram = () => {
    const histogram = new Array<number>(bins).fill(0)
    for (let left = next(); left > 0; left -= 1) {
      const packed = next()
      histogram[packed % bins] = Math.floor(packed / bins)
    }
    return histogram
  }
  while (place < numbers.length) {
    const facts = { at: next(), via: nextText(), prompt: nextText(), key: nextText() }
    const counts = Array.from({ length: next() }, next)
    steps.push({ ...facts, cell: [counts, nextHistogram(), nextHistogram()] })
  }
  return steps
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
