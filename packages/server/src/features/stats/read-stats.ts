/** Answers how often, how fast and at what cost the prompts of a project ran. Every sum is exact; percentiles come from histograms. */
import type { StatsFigures, StatsVia } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { possibleInstant } from '../../shared/clock.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import { figuresOf, sumOf } from './cell.ts'
import { daySeconds, groupBy, hourSeconds, isClosed, readPieces, smallestSeconds, spansOf } from './pieces.ts'
import type { DayCells, Piece, PublicationMark, Span, StatsKey, StepCell } from './ports.ts'

export interface StatsQuestion {
  caller: Caller
  projectId: number
  /** Default: 24 hours before `to`. */
  from?: Date | undefined
  /** Default: now. */
  to?: Date | undefined
  by?: 'none' | StatsKey | undefined
  documentUuid?: string | undefined
  via?: StatsVia | undefined
  top?: number | undefined
  /** Aborted when the caller disconnects. */
  signal: AbortSignal
}

export interface Series {
  figures: StatsFigures
  /** Only steps with runs. */
  points: { at: Date; figures: StatsFigures }[]
}

export interface Stats {
  from: Date
  to: Date
  stepSeconds: number
  asOf: Date
  running: number
  total: Series
  series: (Series & { key: string | null; label: string })[]
  other: Series | null
  marks: PublicationMark[]
}

const hourMs = hourSeconds * 1_000
const dayMs = daySeconds * 1_000
const longestDays = 366
const defaultTop = 8

/**
 * @throws AppError NotFoundError for the project, BadRequestError for the range, ServiceUnavailableError if too many
 * questions wait.
 */
export async function readStats(
  deps: Needs<'stores' | 'liveCache' | 'stats'>,
  question: StatsQuestion,
): Promise<Stats> {
  const { caller, by = 'none', via = 'api', top = defaultTop, signal } = question
  const { workspaceId, apiKeyId } = caller
  const { id: projectId } = await findProject(deps, caller, question.projectId)
  const documentUuid = promptOf(question)
  const { store, inTurn } = deps.stats
  return inTurn({ workspaceId, apiKeyId, signal }, async () => {
    const { now, running } = await store.look(projectId, documentUuid)
    const range = rangeOf(question, now)
    const place = { projectId, documentUuid, by: by === 'none' ? 'model' : by, ...range } as const satisfies Piece
    const read = (await isOfProject(deps, place)) ? await readSteps(deps, place, now) : []
    const isAsked = (step: StepCell) =>
      (via === 'all' || step.via === via) && step.at >= range.from && step.at < range.to
    const steps = read.filter(isAsked)
    const { series, other } = divide(steps, by === 'none' ? null : top)
    const labels = await labelsOf(deps, place, [...series.keys()])
    return {
      from: new Date(range.from),
      to: new Date(range.to),
      ...{ stepSeconds: range.stepSeconds, asOf: new Date(Math.min(now, range.to)), running },
      total: seriesOf(steps),
      series: [...series].map(([key, own]) => ({ key: key || null, label: labels.get(key) ?? key, ...seriesOf(own) })),
      other: other && seriesOf(other),
      marks: await store.listPublications(projectId, range),
    }
  })
}

/** The index of a prompt's facts has those of all projects, so a question about another project's prompt reads none. */
async function isOfProject({ stats }: Needs<'stats'>, { projectId, documentUuid }: Piece): Promise<boolean> {
  return documentUuid === undefined || (await stats.store.listLabels(projectId, 'prompt', [documentUuid])).size > 0
}

function promptOf({ by, documentUuid }: StatsQuestion): string | undefined {
  if (documentUuid === undefined) return undefined
  if (by === 'prompt') throw refuse('invalid-query', issueAt('by', 'cannot be "prompt" for one prompt'))
  // No prompt has any other uuid, so the answer is empty.
  return readUuid(documentUuid) ?? '00000000-0000-0000-0000-000000000000'
}

/** Whole steps: of 5 minutes up to 3 hours, of an hour up to 48 hours, else of a day in UTC. */
function rangeOf({ from, to }: StatsQuestion, now: number) {
  const end = to ? possibleInstant(to).getTime() : now
  const start = from ? possibleInstant(from).getTime() : end - dayMs
  const length = end - start
  if (length <= 0) throw refuse('invalid-query', issueAt('from', 'must be before "to"'))
  if (length > longestDays * dayMs)
    throw refuse('invalid-query', issueAt('from', `must be at most ${longestDays} days before "to"`))
  const stepSeconds = length <= 3 * hourMs ? smallestSeconds : length <= 48 * hourMs ? hourSeconds : daySeconds
  const stepMs = stepSeconds * 1_000
  return { from: Math.floor(start / stepMs) * stepMs, to: Math.ceil(end / stepMs) * stepMs, stepSeconds }
}

/** Days that are stored are read as rows, and everything else from facts. Whole hours or days, so steps outside of the range too. */
async function readSteps(deps: Needs<'stats'>, place: Piece, now: number): Promise<StepCell[]> {
  const { from, to, stepSeconds } = place
  if (stepSeconds < hourSeconds) return readPieces(deps, place, { spans: spansOf(place, hourMs), now })
  const days = spansOf(place, dayMs).filter((day) => day.from <= now)
  const closed = days.filter((day) => isClosed(day, now))
  const readStored = async (missing: readonly Span[]) => {
    const span = { from: missing[0]?.from ?? from, to: missing.at(-1)?.to ?? to }
    const stored = await deps.stats.store.listDays({ ...place, ...span })
    return new Map(stored.map((day) => [Date.parse(day.day), stepsOfDay(day)]))
  }
  const inDays = await readPieces(deps, place, {
    ...{ spans: closed, now },
    ...(stepSeconds === daySeconds && { readStored }),
  })
  // Hours of a day that has not closed are pieces of their own, so that only its last ones are read again.
  const open = days.filter((day) => !isClosed(day, now))
  const hours = open.flatMap((day) => spansOf(day, hourMs)).filter((hour) => hour.from <= now)
  const inHours = await readPieces(deps, { ...place, stepSeconds: hourSeconds }, { spans: hours, now })
  const stepMs = stepSeconds * 1_000
  const inSteps = inHours.map(({ at, via, prompt, key, cell }) => {
    return { at: Math.floor(at / stepMs) * stepMs, via, prompt, key, cell }
  })
  return [...inDays, ...inSteps]
}

function stepsOfDay({ day, cells }: { day: string; cells: DayCells }): StepCell[] {
  return Object.entries(cells).flatMap(([via, ofKeys]) =>
    Object.entries(ofKeys).map(([key, cell]) => ({ at: Date.parse(day), via, prompt: '', key, cell })),
  )
}

/** @param top null for no series. */
function divide(steps: readonly StepCell[], top: number | null) {
  if (top === null) return { series: new Map<string, StepCell[]>(), other: null }
  // Counted once for each key, because a sort compares each of them many times.
  const counted = [...groupBy(steps, ({ key }) => key)].map(([key, own]) => ({ key, own, runs: runsOf(own) }))
  counted.sort((one, other) => other.runs - one.runs)
  const rest = counted.slice(top).flatMap(({ own }) => own)
  const series = new Map(counted.slice(0, top).map(({ key, own }) => [key, own]))
  return { series, other: rest.length > 0 ? rest : null }
}

const runsOf = (steps: readonly StepCell[]) => steps.reduce((sum, { cell }) => sum + (cell[0][0] ?? 0), 0)

function seriesOf(steps: readonly StepCell[]): Series {
  const byStep = [...groupBy(steps, ({ at }) => at)].sort(([one], [other]) => one - other)
  const cells = byStep.map(([at, own]) => ({ at, cell: sumOf(own.map(({ cell }) => cell)) }))
  return {
    figures: figuresOf(sumOf(cells.map(({ cell }) => cell))),
    points: cells.map(({ at, cell }) => ({ at: new Date(at), figures: figuresOf(cell) })),
  }
}

async function labelsOf(
  { stats }: Needs<'stats'>,
  { projectId, by }: Piece,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (by === 'model') return new Map([['', 'No model']])
  return keys.length === 0 ? new Map() : stats.store.listLabels(projectId, by, keys)
}
