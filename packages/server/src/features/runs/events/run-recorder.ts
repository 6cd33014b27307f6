/** Numbers, encodes and appends a run's events within its limits. The event log of a background run is saved as it grows. */
import { type Clock, type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'
import type { LogEntry, NewRun, RunLogWriter, RunSettings, StoredRunResult } from '../ports.ts'
import type { RunEvent, RunSource } from '../run.ts'
import { type RunProgress, spendingSoFar } from './run-progress.ts'

export interface RunRecorder {
  readonly progress: RunProgress
  readonly log: RunLogWriter
  readonly conversation: RunSource & { uuid: string }
  readonly clock: Clock
  readonly bounds: Pick<RunSettings, 'maxEvents' | 'maxEventBytes'>
  lastId: number
  /** The size of all recorded events in bytes, without the messages that they refer to. */
  bytes: number
  completed: StoredRunResult['completed']
}

/** Returns false and records nothing if the run has reached its limits. */
export function record(recorder: RunRecorder, events: readonly RunEvent[]): boolean {
  const { log, bounds } = recorder
  const { codec } = recorder.progress
  if (log.entries.length + events.length >= bounds.maxEvents || recorder.bytes > bounds.maxEventBytes) return false
  const entries: LogEntry[] = []
  for (const event of events) {
    recorder.lastId += 1
    const entry = codec.encodeEvent(event, recorder.lastId, recorder.clock.now(), recorder.conversation)
    entries.push(entry)
    recorder.bytes += codec.bytesOf(entry)
    if ('latitude' in event && event.latitude.type === 'provider-completed') {
      recorder.completed = { eventId: entry.id, covers: event.covers }
    }
  }
  appendEntries(recorder, entries)
  return true
}

/** Appends new messages together with the entries, so that readers find every message that an event covers. */
export function appendEntries({ log, progress }: RunRecorder, entries: readonly LogEntry[]): void {
  const known = log.messages.length
  log.append(known < progress.encoded.length ? progress.encoded.slice(known) : [], entries)
}

const saveEveryMs = 1_000
/**
 * Each save packs and writes the whole event log, so a large one is saved less often. Packing 1 MB takes 8 to 19 ms of CPU
 * time, even if little of it is left to write.
 */
const plainBytesPerMs = 1_024
const storedBytesPerMs = 256

/**
 * Stores a background run's event log about once a second while it grows, or while its agents spend tokens. If this process dies, readers who attach
 * later get the events that were delivered until then, and the conversation their words (promise 4). Foreground runs do not pay for this, because their
 * caller has the events.
 */
export function saveProgress(deps: Needs<'runs' | 'logger'>, run: NewRun, recorder: RunRecorder): Repeated {
  const { progress, log } = recorder
  let saved = stateOf(0, 0)
  let nextAt = 0
  return repeat(saveEveryMs, async () => {
    if (performance.now() < nextAt) return
    const entries = [...log.entries]
    // No event covers the calls under way yet, nor any call of an agent. They count if this process dies.
    const { isEstimated, ...spending } = spendingSoFar(progress)
    const state = stateOf(entries.length, spending.tokenUsage.totalTokens)
    if (state === saved) return
    const { codec, encoded, facts } = progress
    const message = progress.underWay?.().message
    const messages = message ? [...encoded, codec.encodeMessage(message)] : [...encoded]
    const isUsageEstimated = facts.isUsageEstimated || isEstimated
    const underWay = { spending, facts: { ...facts, isUsageEstimated } }
    const plainBytes = messages.reduce((sum, message) => sum + message.length, recorder.bytes)
    try {
      const eventLog = await codec.packEventLog({ messages, entries, underWay })
      await deps.runs.store.saveEventLog(run, eventLog)
      saved = state
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

const stateOf = (entries: number, tokens: number) => `${entries} ${tokens}`

/** Returns the least time between two saves in ms. */
export function pauseAfterSave({ plainBytes, storedBytes }: { plainBytes: number; storedBytes: number }): number {
  return Math.max(plainBytes / plainBytesPerMs, storedBytes / storedBytesPerMs)
}
