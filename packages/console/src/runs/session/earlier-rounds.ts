/** Makes the rounds of a conversation from its stored messages. */
import type { MessagePart } from '@stet/contract/vocabulary'
import type { Message } from '@stet/sdk'
import {
  type KnownCall,
  type OutputPart,
  type RunView,
  type StepView,
  startedRun,
  type ToolPart,
} from '../follow-run.ts'
import { type KeptRound, type KeptRun, knownCalls } from './kept-run.ts'
import type { Round } from './round.ts'

/**
 * Returns the rounds before the kept one. A round that is not in the conversation is left out: its message was refused.
 */
export function earlierRounds(kept: KeptRun, messages: readonly Message[]): Round[] {
  const { conversationUuid, said, earlier, messagesBefore } = kept
  const calls = knownCalls(kept)
  const rounds: Round[] = []
  let from = messagesBefore ?? 0
  let current: KeptRound = earlier[0] ?? firstRound
  for (const next of [...earlier.slice(1), { ...firstRound, said }]) {
    const end = messages.findIndex((message, at) => at >= from && isSaid(message, next.said))
    if (end < 0) continue
    const { phase, trouble } = current
    const steps = storedSteps(messages.slice(from, end), calls)
    const view: RunView = { ...startedRun(0), conversationUuid, phase, trouble, durationMs: 0, steps }
    rounds.push({ said: current.said, view: rounds.length === 0 ? { ...view, messagesBefore } : view })
    from = end + 1
    current = next
  }
  return rounds
}

const firstRound: KeptRound = { said: null, phase: 'completed', trouble: null }

function isSaid(message: Message, said: string | null): boolean {
  return (
    message.role === 'user' &&
    partsOf(message)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('') === said
  )
}

function storedSteps(messages: readonly Message[], calls: KeptRun['calls']): StepView[] {
  const results = new Map(messages.flatMap(partsOf).flatMap(resultIn))
  const answers = messages.filter(({ role }) => role === 'assistant')
  return answers.map((message, at): StepView => {
    const parts = partsOf(message)
      .flatMap((part, place) => outputOf(part, `stored-${place}`, results))
      .map((part) => (part.kind === 'tool' ? withKnown(part, calls[part.key]) : part))
    return { number: at + 1, provider: null, model: null, parts, usage: null, finishReason: null }
  })
}

/** The server gives a call without a result one before the next message, because models require it. */
function withKnown(tool: ToolPart, known: KnownCall | undefined): ToolPart {
  if (!known) return tool
  return { ...tool, ...known, ...(known.durationMs === null && { state: 'open' }) }
}

function partsOf({ content }: Message): MessagePart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
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
  return [{ kind: 'tool', key: toolCallId, name, args, source: null, calledAt: 0, durationMs: null, ...found }]
}
