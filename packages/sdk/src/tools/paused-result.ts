import type { Failed } from '../events.ts'
import type { OutputKind } from '../registry.ts'
import type { ContentPart, Message, RunResult, ToolCall } from '../types.ts'

/**
 * Returns the result of a run that was stopped because a tool paused. A chat can answer the open calls. Returns
 * undefined if the run failed for another reason.
 */
export function pausedResult<O extends OutputKind>(data: Failed, text: string): RunResult<O> | undefined {
  const { uuid, messages, source, tokenUsage, cost, error } = data
  if (error.code !== 'abort_error') return undefined
  const toolCalls = openCalls(messages)
  const response = { streamType: 'text', text, usage: tokenUsage, toolCalls, cost, finishReason: 'tool-calls' }
  return {
    uuid,
    conversation: messages,
    // A stopped run reports no model, so `model` and `provider` are empty.
    response: { ...response, model: '', provider: '', documentLogUuid: uuid, input: messages, output: [] } as never,
    toolRequests: toolCalls,
    source,
    tokenUsage,
    cost,
  }
}

function openCalls(messages: readonly Message[]): ToolCall[] {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const answered = new Set(parts.map((part) => part.type === 'tool-result' && part.toolCallId))
  return parts
    .filter(isCall)
    .flatMap(({ toolCallId: id, toolName: name, args }) => (answered.has(id) ? [] : [{ id, name, arguments: args }]))
}

function isCall(part: ContentPart): part is Extract<ContentPart, { type: 'tool-call' }> {
  return part.type === 'tool-call'
}
