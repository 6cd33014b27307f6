/** Ends runs whose owner's lease has ended: each gets its definite end, `worker_lost`, with a terminal event. */
import type { Needs } from '../../deps.ts'
import { endLost } from './end-undriven.ts'

/** @returns how many runs were ended. */
export async function recoverRuns(
  deps: Needs<'runs' | 'eventLog' | 'activeRuns' | 'runSettings' | 'templates' | 'clock' | 'log'>,
): Promise<number> {
  let ended = 0
  for (const conversation of await deps.runs.listLost(deps.runSettings.instanceId)) {
    const { latestRun } = conversation
    if (latestRun && (await endLost(deps, conversation, latestRun))) ended += 1
  }
  if (ended > 0) deps.log.warn('runs.lost', { count: ended })
  return ended
}
