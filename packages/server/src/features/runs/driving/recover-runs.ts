/** At start: every run that a dead process left running gets its definite end, `worker_lost`, with a terminal event. */
import type { Needs } from '../../deps.ts'
import { endLost } from './end-undriven.ts'

/** @returns how many runs were ended. Call it before this process drives any: every other owner is dead then. */
export async function recoverRuns(
  deps: Needs<'runs' | 'eventLog' | 'activeRuns' | 'runSettings' | 'templates' | 'clock' | 'log'>,
): Promise<number> {
  const left = await deps.runs.listLeftRunning(deps.runSettings.instanceId)
  let ended = 0
  for (const conversation of left) {
    const { latestRun } = conversation
    if (latestRun && (await endLost(deps, conversation, latestRun))) ended += 1
  }
  if (ended > 0) deps.log.warn('runs.lost', { count: ended })
  return ended
}
