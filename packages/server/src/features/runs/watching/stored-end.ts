/** What is left of a run after its event log: provider-completed, if it had one, and the terminal event, with their ids. */
import { RunError } from '../../../shared/app-error.ts'
import { usageOf } from '../../providers/usage.ts'
import { terminalEvent } from '../driving/run-ending.ts'
import { createEventEncoder } from '../encoding/encode-event.ts'
import type { StoredLog } from '../encoding/event-log-file.ts'
import { createRunProgress } from '../execution/run-progress.ts'
import type { LogEntry, StoredConversation, StoredRun, StoredRunResult } from '../ports.ts'
import type { RunEvent } from '../run-event.ts'

/** The end of an ended run from its row. */
export function endOfRun(conversation: StoredConversation, run: StoredRun, result: StoredRunResult): StoredLog {
  const { response, completed, toolRequests, error, covers: _covers, ...spending } = result
  const progress = createRunProgress(conversation.messages)
  progress.spending = spending
  const encoded = (event: RunEvent, firstEventId: number): LogEntry =>
    createEventEncoder({
      conversationUuid: conversation.uuid,
      source: conversation,
      firstEventId,
      clock: { now: () => run.endedAt ?? conversation.updatedAt },
    }).encode(event)
  const entries: LogEntry[] = []
  if (response && completed) {
    const { usage: tokenUsage, finishReason } = response
    const latitude = { type: 'provider-completed' as const, response, tokenUsage, finishReason }
    entries.push(encoded({ latitude, covers: completed.covers }, completed.eventId))
  }
  const failure = new RunError(error?.code ?? 'unknown_error', error?.message ?? '', { details: error?.details ?? {} })
  const ending = response && !error ? { completion: { response, toolRequests } } : { failure }
  entries.push(encoded(terminalEvent(ending, progress), run.lastEventId ?? run.firstEventId))
  return { messages: progress.list.encoded, entries }
}

/** What a conversation that was recorded, not run, would have ended with: nothing was spent. */
export function resultOfLog({ messages }: Pick<StoredConversation, 'messages'>): StoredRunResult {
  const places = messages.map((message, place) => (message.role === 'assistant' ? place : -1))
  const answerAt = Math.max(-1, ...places)
  const parts = messages[answerAt]?.content ?? []
  const tokenUsage = usageOf({})
  const response = {
    streamType: 'text' as const,
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls: [],
    usage: tokenUsage,
    cost: 0,
    model: '',
    provider: 'custom',
    finishReason: 'unknown' as const,
    input: [[0, answerAt < 0 ? messages.length : answerAt] as const],
    output: answerAt < 0 ? [] : [[answerAt, messages.length] as const],
  }
  return {
    response,
    completed: { eventId: 1, covers: messages.length },
    toolRequests: [],
    tokenUsage,
    cost: 0,
    costUnknown: false,
  }
}
