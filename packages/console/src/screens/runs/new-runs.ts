/** The runs that a list shows, and those that wait above it until the reader wants them. Pure. */
import type { Run } from '@stet/sdk'

/** The clocks of the server and of this computer may differ by this much. */
const skewMs = 5 * 60_000

/** A run is listed a moment after its creation, and several servers have several clocks. */
const lateMs = 30_000

/** The runs of the loaded pages, each once: a run may have come to another place between two pages. */
export function listedRuns(pages: readonly { items: readonly Run[] }[]): Run[] {
  return [...new Map(pages.flatMap(({ items }) => items.map((run) => [run.uuid, run] as const))).values()]
}

/**
 * The instant from which a poll reads: some time before the creation of the newest run that is shown.
 *
 * @param readAt when the list was read, for a list without runs
 */
export function pollFrom(shown: readonly Run[], readAt: number): string {
  const newest = shown
    .map(({ createdAt }) => createdAt)
    .sort()
    .at(-1)
  return new Date(newest ? Date.parse(newest) - lateMs : readAt - skewMs).toISOString()
}

/** The runs with the facts of a poll. The same list if nothing has changed. */
export function withPolled(shown: readonly Run[], polled: readonly Run[]): readonly Run[] {
  const byUuid = new Map(polled.map((run) => [run.uuid, run]))
  const isSame = shown.every((run) => {
    const now = byUuid.get(run.uuid)
    return !now || (now.status === run.status && now.tags.join() === run.tags.join() && now.feedback === run.feedback)
  })
  return isSame ? shown : shown.map((run) => byUuid.get(run.uuid) ?? run)
}

/**
 * The polled runs that the list does not have, newest first.
 *
 * @param hasMore runs before the last row come with the next page
 */
export function waitingRuns(shown: readonly Run[], polled: readonly Run[], hasMore: boolean): Run[] {
  const known = new Set(shown.map(({ uuid }) => uuid))
  const [oldest = ''] = hasMore ? shown.map(({ createdAt }) => createdAt).sort() : []
  return polled.filter(({ uuid, createdAt }) => !known.has(uuid) && createdAt >= oldest)
}
