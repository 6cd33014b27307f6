/** Which runs a list shows, and which wait above it until the reader wants them. Pure. */
import type { Run } from '@stet/sdk'
import { isActiveRun } from '../../runs/run-figures.ts'

/** The clocks of the server and of this computer may differ by this much. */
const skewMs = 5 * 60_000

/**
 * The instant from which a poll reads: everything since the newest run that is shown, and the end of runs that were
 * active.
 *
 * @param readAt when the list was read, for a list without runs
 */
export function pollFrom(shown: readonly Run[], readAt: number): string {
  const [newest] = shown
  if (!newest) return new Date(readAt - skewMs).toISOString()
  const active = shown.filter(isActiveRun).map(({ createdAt }) => createdAt)
  return [newest.createdAt, ...active].sort()[0] ?? newest.createdAt
}

/** The runs with what a poll knows of them. The same list if nothing has changed. */
export function withPolled(shown: readonly Run[], polled: readonly Run[]): readonly Run[] {
  const byUuid = new Map(polled.map((run) => [run.uuid, run]))
  const isSame = shown.every((run) => {
    const now = byUuid.get(run.uuid)
    return !now || (now.status === run.status && now.tags.join() === run.tags.join() && now.feedback === run.feedback)
  })
  return isSame ? shown : shown.map((run) => byUuid.get(run.uuid) ?? run)
}

/** The polled runs that the list does not have, newest first. */
export function waitingRuns(shown: readonly Run[], polled: readonly Run[]): Run[] {
  const known = new Set(shown.map(({ uuid }) => uuid))
  return polled.filter(({ uuid }) => !known.has(uuid))
}
