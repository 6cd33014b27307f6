/** The runs of a conversation as the pane shows them: from the records of the runs, and the stored messages. Pure. */
import type { MessagePart } from '@stet/contract/vocabulary'
import type { Message, Run } from '@stet/sdk'
import { type OutputPart, type RunView, type StepView, startedRun, type ToolPart, troubleOf } from '../follow-run.ts'

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
export function storedRounds(runs: readonly Run[], messages: readonly Message[]): Round[] {
  // A reply adds one message of the user, and models write none. So each run but the first begins at one of the last.
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []))
  const starts = [0, ...users.slice(users.length - runs.length + 1)]
  const results = new Map(messages.flatMap(partsOf).flatMap(resultIn))
  return runs.map((run, at): Round => {
    const [from = messages.length, to = messages.length] = starts.slice(at, at + 2)
    const said =
      at === 0
        ? null
        : messages
            .slice(from, from + 1)
            .map(textOf)
            .join('')
    if (at === runs.length - 1) return { said, view: recordedView(run) }
    const { status, error } = run
    const view: RunView = {
      ...recordedView(run),
      phase: status === 'error' ? 'failed' : status === 'stopped' ? 'stopped' : 'completed',
      trouble: status === 'error' && error ? troubleOf(error.message, error.errorCode, null) : null,
      steps: storedSteps(messages.slice(from, to), results),
    }
    return { said, view }
  })
}

/** A run before its events are read again. */
function recordedView({ conversationUuid, createdAt, firstTokenMs, durationMs }: Run): RunView {
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

/** The answers at the end of the messages. The prompt's own messages, also those of the assistant, precede them. */
function storedSteps(messages: readonly Message[], results: ReadonlyMap<string, Result>): StepView[] {
  const asked = messages.findLastIndex(({ role }) => role !== 'assistant' && role !== 'tool')
  const answers = messages.slice(asked + 1).filter(({ role }) => role === 'assistant')
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
