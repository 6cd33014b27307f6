import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'
import type { NewRun } from '../ports.ts'
import { spend } from './run-progress.ts'
import type { RunRecorder } from './run-recorder.ts'

const saveEveryMs = 1_000
/**
 * Each save packs and writes the whole event log, so a large one is saved less often. Packing 1 MB takes 8 to 19 ms of CPU
 * time, even if little of it is left to write.
 */
const plainBytesPerMs = 1_024
const storedBytesPerMs = 256

/**
 * Stores a background run's event log about once a second while it grows. If this process dies, readers who attach
 * later get the events that were delivered until then, and the conversation their words (promise 4). Foreground runs do not pay for this, because their
 * caller has the events.
 */
export function saveProgress(deps: Needs<'runs' | 'logger'>, run: NewRun, recorder: RunRecorder): Repeated {
  const { progress, log } = recorder
  let saved = 0
  let nextAt = 0
  return repeat(saveEveryMs, async () => {
    const entries = [...log.entries]
    if (entries.length === saved || performance.now() < nextAt) return
    const { codec, encoded, spending, facts } = progress
    // No event covers the call under way yet. It counts if this process dies.
    const { message, spent } = progress.underWay?.() ?? {}
    const messages = message ? [...encoded, codec.encodeMessage(message)] : [...encoded]
    const isUsageEstimated = facts.isUsageEstimated || spent?.isEstimated === true
    const underWay = { spending, facts: { ...facts, isUsageEstimated } }
    if (spent) spend(underWay, undefined, spent)
    const plainBytes = messages.reduce((sum, message) => sum + message.length, recorder.bytes)
    try {
      const eventLog = await codec.packEventLog({ messages, entries, underWay })
      await deps.runs.store.saveEventLog(run, eventLog)
      saved = entries.length
      nextAt = performance.now() + pauseAfterSave({ plainBytes, storedBytes: eventLog.length })
    } catch (error) {
      // The next round tries again. The run's end is stored in any case.
      deps.logger.warn('run.progress-not-stored', {
        runUuid: run.uuid,
        reason: error instanceof Error ? error.name : typeof error,
      })
    }
  })
}

/** Returns the least time between two saves in ms. */
export function pauseAfterSave({ plainBytes, storedBytes }: { plainBytes: number; storedBytes: number }): number {
  return Math.max(plainBytes / plainBytesPerMs, storedBytes / storedBytesPerMs)
}
