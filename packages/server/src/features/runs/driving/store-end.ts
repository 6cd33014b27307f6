/** Stores the end of a run; a database that is away is waited for, within bounds. */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { RunEnd } from '../ports.ts'

const retryMs = 500

/**
 * False when the run was lost: to its next owner, or to a database that stayed away. Nothing was written then.
 * @param first the attempt that is under way.
 */
export async function storeEnd(
  deps: Needs<'runs' | 'runSettings' | 'log'>,
  end: RunEnd,
  first: Promise<boolean>,
): Promise<boolean> {
  const giveUpAt = performance.now() + deps.runSettings.storeWaitMs
  for (let attempt = first; ; attempt = deps.runs.end(end)) {
    try {
      return await attempt
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'ServiceUnavailableError'
      if (!isAway || performance.now() >= giveUpAt) {
        deps.log.error('run.end-not-stored', { runUuid: end.runUuid, reason: error instanceof Error ? error.name : '' })
        return false
      }
      await pause(retryMs)
    }
  }
}
