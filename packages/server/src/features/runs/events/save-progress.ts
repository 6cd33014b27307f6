import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'
import type { NewRun, RunLogWriter } from '../ports.ts'
import type { RunProgress } from '../steps/run-progress.ts'

const saveEveryMs = 1_000
/** Each save writes the whole event log, so a large one is saved less often: 4 MB every 16 s. */
const bytesPerMs = 256

/**
 * Stores a background run's event log about once a second while it grows. If this process dies, readers who attach
 * later get the events that were delivered until then (promise 4). Foreground runs do not pay for this, because their
 * caller has the events.
 */
export function saveProgress(
  deps: Needs<'runs' | 'logger'>,
  { run, progress, log }: { run: NewRun; progress: RunProgress; log: RunLogWriter },
): Repeated {
  let saved = 0
  let nextAt = 0
  return repeat(saveEveryMs, async () => {
    const entries = [...log.entries]
    if (entries.length === saved || performance.now() < nextAt) return
    try {
      const eventLog = await progress.codec.packEventLog([...log.messages], entries)
      await deps.runs.store.saveEventLog(run, eventLog)
      saved = entries.length
      nextAt = performance.now() + eventLog.length / bytesPerMs
    } catch (error) {
      // The next round tries again. The run's end is stored in any case.
      deps.logger.warn('run.progress-not-stored', {
        runUuid: run.uuid,
        reason: error instanceof Error ? error.name : typeof error,
      })
    }
  })
}
