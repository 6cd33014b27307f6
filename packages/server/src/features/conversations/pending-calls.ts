/** Matches tool results with tool calls when a conversation goes on: every call gets exactly one result. */
import { invalid } from '../../shared/app-error.ts'
import type { Message, MessagePart } from '../templates/message.ts'

type ToolCallPart = Extract<MessagePart, { type: 'tool-call' }>

/**
 * What stands between the conversation and the new messages: an error result for each call that they leave unanswered.
 * @throws AppError BadRequestError for a result that answers no call.
 */
export function answerPendingCalls(conversation: readonly Message[], added: readonly Message[]): Message[] {
  const all = [...conversation, ...added]
  const called = new Set(toolCalls(all).map((part) => part.toolCallId))
  const stranger = resultIds(added).find((id) => !called.has(id))
  if (stranger !== undefined) {
    throw invalid(`There is no tool call '${stranger}' in the conversation`, { toolCallId: stranger })
  }
  const answered = new Set(resultIds(all))
  const pending = toolCalls(conversation).filter((part) => !answered.has(part.toolCallId))
  return pending.length === 0 ? [] : [{ role: 'tool', content: pending.map(missingResult) }]
}

function toolCalls(messages: readonly Message[]): ToolCallPart[] {
  return messages.flatMap((message) => message.content.filter((part) => part.type === 'tool-call'))
}

function resultIds(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    message.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])),
  )
}

function missingResult({ toolCallId, toolName }: ToolCallPart): MessagePart {
  return { type: 'tool-result', toolCallId, toolName, result: 'No result was given', isError: true }
}
