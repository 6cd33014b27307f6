/** The runs of a conversation as the pane shows them: from the records of the runs, and the stored messages. Pure. */
import type { MessagePart } from '@stet/contract/vocabulary'
import type { Message, Run } from '@stet/sdk'
import { type OutputPart, type RunView, type StepView, startedRun, type ToolPart, troubleOf } from '../follow-run.ts'

/** The fields of a run's record from which its round is made. */
export type RecordedRun = Pick<
  Run,
  'conversationUuid' | 'createdAt' | 'firstTokenMs' | 'durationMs' | 'error' | 'status' | 'givenFrom' | 'givenCount'
>

/** One run of a conversation. */
export interface Round {
  /** The message that the round answers. Null for the prompt's own run. */
  said: string | null
  view: RunView
}

/** The message of the round is not in the conversation: it was refused, or the server has not taken it yet. */
export function isUnsaid({ said, view }: Round): boolean {
  return said !== null && view.conversationUuid === null
}

/**
 * Returns a round for each run, oldest first. The last one is empty: its events are read again.
 *
 * @param messages all messages of the conversation, or none if it has one run
 */
export function storedRounds(runs: readonly RecordedRun[], messages: readonly Message[]): Round[] {
  const results = new Map(messages.flatMap(partsOf).flatMap(resultIn))
  // Backwards, because a round ends where the next one begins.
  let to = messages.length
  const rounds = runs.toReversed().map((run, back): Round => {
    const isFirst = back === runs.length - 1
    const { from, count } = isFirst ? { from: 0, count: 0 } : givenTo(run, messages.slice(0, to))
    const said = isFirst
      ? null
      : messages
          .slice(from, from + count)
          .map(textOf)
          .join('\n\n')
    const own = messages.slice(from + count, to)
    to = from
    if (back === 0) return { said, view: recordedView(run) }
    const { status, error } = run
    const view: RunView = {
      ...recordedView(run),
      phase: status === 'error' ? 'failed' : status === 'stopped' ? 'stopped' : 'completed',
      trouble: status === 'error' && error ? troubleOf(error.message, error.errorCode, null) : null,
      steps: storedSteps(isFirst ? answersIn(own) : own, results),
    }
    return { said, view }
  })
  return rounds.toReversed()
}

/** The messages that a chat was given. Its record names them once it has ended, unless its process died. */
function givenTo(
  { givenFrom, givenCount }: RecordedRun,
  messages: readonly Message[],
): { from: number; count: number } {
  if (givenFrom !== null && givenCount !== null) return { from: givenFrom, count: givenCount }
  const end = messages.findLastIndex(({ role }) => role === 'user') + 1
  const from = messages.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1
  return { from, count: end - from }
}

/** A run before its events are read again. */
function recordedView({ conversationUuid, createdAt, firstTokenMs, durationMs }: RecordedRun): RunView {
  return {
    // The clocks of the server and of this computer may differ.
    ...startedRun(Math.min(Date.parse(createdAt) - performance.timeOrigin, performance.now())),
    phase: firstTokenMs === null ? 'waiting' : 'streaming',
    isReread: true,
    conversationUuid,
    firstTokenMs,
    durationMs,
  }
}

/** The parts of a message, of which a text may be the only one. */
export function partsOf({ content }: Message): MessagePart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function textOf(message: Message): string {
  return partsOf(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
}

/** The prompt's own messages, also those of the assistant, precede the answers. */
function answersIn(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'assistant' && role !== 'tool') + 1)
}

function storedSteps(messages: readonly Message[], results: ReadonlyMap<string, Result>): StepView[] {
  const answers = messages.filter(({ role }) => role === 'assistant')
  return answers.map((message, at) => ({
    number: at + 1,
    provider: null,
    model: null,
    parts: partsOf(message).flatMap((part, place) => outputOf(part, `stored-${place}`, results)),
    usage: null,
    finishReason: null,
  }))
}

type Result = Pick<ToolPart, 'state' | 'result'>

function resultIn(part: MessagePart): [string, Result][] {
  if (part.type !== 'tool-result') return []
  const { toolCallId, result, isError } = part
  return [[String(toolCallId), { state: isError ? 'failed' : 'answered', result }]]
}

function outputOf(part: MessagePart, key: string, results: ReadonlyMap<string, Result>): OutputPart[] {
  if (part.type === 'text' || part.type === 'reasoning') return [{ kind: part.type, key, text: String(part.text) }]
  if (part.type === 'file') return [{ kind: 'file', key, url: String(part.file), mimeType: String(part.mimeType) }]
  if (part.type !== 'tool-call') return []
  const { toolCallId, toolName: name, args } = part
  const found = results.get(toolCallId) ?? { state: 'open', result: undefined }
  return [{ kind: 'tool', key: toolCallId, name, args, source: null, ...found }]
}
