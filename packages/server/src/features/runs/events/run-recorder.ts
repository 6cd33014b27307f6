/** Numbers and encodes a run's events and appends them to its event log, within the run's limits. */
import type { Clock } from '../../../shared/clock.ts'
import type { LogEntry, RunLogWriter, RunSettings, StoredRunResult } from '../ports.ts'
import type { RunEvent, RunSource } from '../run.ts'
import type { RunProgress } from './run-progress.ts'

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
