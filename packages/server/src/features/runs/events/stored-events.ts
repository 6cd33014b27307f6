/** The stored event logs of ended runs. All readers of a run share one unpacked copy. Old event logs are dropped. */

import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'
import type {
  EventCodec,
  RunLogReader,
  RunStore,
  StoredConversation,
  StoredLog,
  StoredLogs,
  StoredRun,
  StoredRunResult,
} from '../ports.ts'
import type { StepResponse } from '../run.ts'
import { nothingSpent } from './run-progress.ts'

export function createStoredLogs(runs: Pick<RunStore, 'findEventLog'>, codec: EventCodec): StoredLogs {
  // Weak references free an unpacked event log without an explicit release.
  const opened = new Map<string, WeakRef<StoredLog>>()
  const opening = new Map<string, Promise<StoredLog | null>>()
  const collected = new FinalizationRegistry<string>((runUuid) => {
    if (!opened.get(runUuid)?.deref()) opened.delete(runUuid)
  })

  const unpack = async (workspaceId: number, runUuid: string): Promise<StoredLog | null> => {
    const file = await runs.findEventLog(workspaceId, runUuid)
    if (!file) return null
    const log = await codec.unpackEventLog(file)
    if (!log) return null
    opened.set(runUuid, new WeakRef(log))
    collected.register(log, runUuid)
    return log
  }

  return {
    async open(workspaceId, runUuid) {
      const shared = opened.get(runUuid)?.deref()
      if (shared) return shared
      const pending = opening.get(runUuid) ?? unpack(workspaceId, runUuid).finally(() => opening.delete(runUuid))
      opening.set(runUuid, pending)
      return pending
    },
  }
}

export function storedReader(codec: EventCodec, log: StoredLog, afterId: number): RunLogReader {
  const entries = codec.entriesAfter(log, afterId)
  let place = 0
  return {
    // Refers to `log`, so that the shared copy stays in memory while this reader is used.
    get messages() {
      return log.messages
    },
    take(limit) {
      const taken = entries.slice(place, place + limit)
      place += taken.length
      return taken
    },
    changed: () => Promise.resolve(),
    listen: () => {},
    isAtEnd() {
      return place >= entries.length
    },
    isCallerAwaited: () => false,
    release: () => {},
  }
}

/** Represents an external log as a completed run with two events. */
export function loggedRun(conversation: StoredConversation): StoredRun {
  const { uuid, createdAt } = conversation
  const unstarted = {
    epoch: 0,
    stopRequestedAt: null,
    givenFrom: null,
    givenCount: null,
    createdAt,
    endedAt: createdAt,
  }
  return { ...unstarted, uuid, status: 'completed', firstEventId: 1, lastEventId: 2, result: resultOfLog(conversation) }
}

export function resultOfLog({ messages }: Pick<StoredConversation, 'messages'>): StoredRunResult {
  const answerAt = messages.findLastIndex(({ role }) => role === 'assistant')
  const inputEnd = answerAt < 0 ? messages.length : answerAt
  const parts = messages[answerAt]?.content ?? []
  const response: StepResponse = {
    streamType: 'text',
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls: [],
    usage: nothingSpent.tokenUsage,
    cost: 0,
    model: '',
    provider: 'custom',
    finishReason: 'unknown',
    input: [[0, inputEnd]],
    output: answerAt < 0 ? [] : [[answerAt, messages.length]],
  }
  return { response, completed: { eventId: 1, covers: messages.length }, toolRequests: [], ...nothingSpent }
}

const dropEveryMs = 60_000

/** Drops old event logs and tool results once a minute. Run results and conversations stay. */
export function dropEventLogs(deps: Needs<'runs' | 'clock' | 'logger'>): Repeated {
  // An earlier round has already handled runs that ended before `from`.
  let from = new Date(0)
  return repeat(dropEveryMs, async () => {
    const before = new Date(deps.clock.now().getTime() - deps.runs.settings.eventRetentionMs)
    try {
      while ((await deps.runs.store.dropEventLogs(from, before)) > 0);
      while ((await deps.runs.toolCalls.dropAnswers(from, before)) > 0);
      from = before
    } catch {
      deps.logger.warn('runs.event-logs-not-dropped')
    }
  })
}
