/** Makes the rounds of a conversation from its stored messages. */
import type { MessagePart } from '@stet/contract/vocabulary'
import type { Message } from '@stet/sdk'
import { type OutputPart, type RunView, type StepView, startedRun, type ToolPart } from '../follow-run.ts'
import type { KeptRun } from './kept-run.ts'

export interface Round {
  /** The message that the round answers. Null for the prompt's own run. */
  said: string | null
  view: RunView
}

type Kept = Pick<KeptRun, 'conversationUuid' | 'said' | 'earlier' | 'messagesBefore'>

/**
 * Returns the rounds before the kept one. A round that is not in the conversation is left out: its message was refused.
 */
export function earlierRounds(kept: Kept, messages: readonly Message[]): Round[] {
  const { conversationUuid, said, earlier, messagesBefore } = kept
  const rounds: Round[] = []
  let from = messagesBefore ?? 0
  let current: string | null | undefined = earlier[0]
  for (const next of [...earlier.slice(1), said]) {
    const end = messages.findIndex((message, at) => at >= from && isSaid(message, next))
    if (end < 0) continue
    const view = storedView(conversationUuid, messages.slice(from, end))
    rounds.push({ said: current ?? null, view: rounds.length === 0 ? { ...view, messagesBefore } : view })
    from = end + 1
    current = next
  }
  return rounds
}

function isSaid(message: Message, said: string | null): boolean {
  return (
    message.role === 'user' &&
    partsOf(message)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('') === said
  )
}

function storedView(conversationUuid: string, messages: readonly Message[]): RunView {
  const results = new Map(messages.flatMap(partsOf).flatMap(resultIn))
  const answers = messages.filter(({ role }) => role === 'assistant')
  const steps = answers.map((message, at): StepView => {
    const parts = partsOf(message).flatMap((part, place) => outputOf(part, `stored-${place}`, results))
    return { number: at + 1, provider: null, model: null, parts, usage: null, finishReason: null }
  })
  return { ...startedRun(0), conversationUuid, phase: 'completed', durationMs: 0, steps }
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
