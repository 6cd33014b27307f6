import type { ListRunsQuery } from '@stet/contract/vocabulary'
import type { Run } from '@stet/sdk'
import type { EndFilter } from './filters.ts'

/** The runs that a tail has seen. `from` is the instant at which the next list of runs begins. */
export interface TailProgress {
  from: string | undefined
  known: ReadonlyMap<string, { createdAt: string; isActive: boolean }>
}

export interface TailEvent {
  event: 'started' | 'ended'
  data: Run
}

/**
 * Each list begins this long before the newest run of the list before it: servers store the row of a run up to a
 * second after its `createdAt`, and their clocks differ.
 */
const overlapMs = 15_000

/**
 * Adds the runs that one poll has seen. A run that is listed again, or was created in the same millisecond as another one, is
 * known by its uuid.
 *
 * @param seen `newest`: when the project's newest run was created, read before the runs; `gone`: runs that were deleted
 * @returns the events of the runs that are new or have ended since, in the order in which they happened
 */
export function advance(
  { from, known }: TailProgress,
  { runs, newest, gone = [] }: { runs: readonly Run[]; newest: string | undefined; gone?: readonly string[] },
): { progress: TailProgress; events: TailEvent[] } {
  const next = new Map(known)
  const events: { at: string; event: TailEvent }[] = []
  for (const data of runs) {
    const { uuid, createdAt, endedAt } = data
    const before = next.get(uuid)
    if (!before) events.push({ at: createdAt, event: { event: 'started', data } })
    if (endedAt !== null && before?.isActive !== false) events.push({ at: endedAt, event: { event: 'ended', data } })
    // Moves the run to the end, so that long runs take turns in `runsBefore`.
    next.delete(uuid)
    next.set(uuid, { createdAt, isActive: endedAt === null })
  }
  for (const uuid of gone) next.delete(uuid)
  const reached = newest === undefined ? undefined : new Date(Date.parse(newest) - overlapMs).toISOString()
  const later = from === undefined || (reached !== undefined && reached > from) ? reached : from
  for (const [uuid, { createdAt, isActive }] of next) {
    if (!isActive && later !== undefined && createdAt < later) next.delete(uuid)
  }
  // The sort is stable, so a run starts before it ends.
  const sorted = events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ event }) => event)
  return { progress: { from: later, known: next }, events: sorted }
}

/** Returns the active runs that were created before the next list begins, the ones seen longest ago first. */
export function runsBefore({ from, known }: TailProgress): string[] {
  if (from === undefined) return []
  return [...known].flatMap(([uuid, { createdAt, isActive }]) => (isActive && createdAt < from ? [uuid] : []))
}

type EventFilter = EndFilter & Pick<ListRunsQuery, 'tag'>

/**
 * A start is not printed if only an ended run can match. The tag is compared here, because a list by tag has the order
 * of the conversations: a poll would read the whole history of the tag.
 */
export function matches(
  { event, data }: TailEvent,
  { tag, status, model, minCost = 0, minDurationMs = 0 }: EventFilter,
): boolean {
  if (tag !== undefined && !data.tags.includes(tag)) return false
  if (event === 'started') {
    const isEndOnly = model !== undefined || minCost > 0 || minDurationMs > 0
    return !isEndOnly && (!status || status.includes('queued') || status.includes('running'))
  }
  if (status && !status.includes(data.status)) return false
  return (
    (model === undefined || model === data.model) &&
    (data.cost ?? 0) >= minCost &&
    (data.durationMs ?? 0) >= minDurationMs
  )
}
