/** The messages of OpenAI's chat completions. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { unsupported } from '../failures.ts'
import { base64Of, type Format, parsedArguments, partsOf, textOf, textPart, toolResults } from './format.ts'

interface ToolCall {
  id: string
  type: string
  /** Calls of other types have none. */
  function?: { name: string; arguments: string }
}

export const openai: Format = {
  write: (config, messages) => ({ config, messages: messages.flatMap(writeMessage) }),
  read: (answer) => [readAnswer(answer)],
}

function writeMessage(message: RenderedMessage): unknown[] {
  const { role, content, ...extra } = message
  switch (role) {
    case 'system':
      return [{ ...extra, role, content: systemContent(content) }]
    case 'user':
      return [{ ...extra, role, content: content.map(userPart) }]
    case 'assistant':
      return [{ ...extra, role, ...assistantContent(content) }]
    case 'tool':
      return toolResults(message).map(({ toolCallId, toolName, parts }) => {
        return { ...extra, role, toolName, tool_call_id: toolCallId, content: parts }
      })
    default:
      throw unsupported('openai', `the role ${role}`)
  }
}

function systemContent(content: readonly RenderedPart[]): unknown {
  const other = content.find(({ type }) => type !== 'text')
  if (other) throw unsupported('openai', `parts of type ${other.type} in system messages`)
  return content.length === 1 ? content[0]?.['text'] : content
}

function userPart(part: RenderedPart): unknown {
  if (part.type === 'text' || part.type === 'image') return part
  if (part.type !== 'file') throw unsupported('openai', `parts of type ${part.type} in user messages`)
  const { file, mimeType, ...extra }: Record<string, unknown> = part
  const audio = /^audio\/(mpeg|wav)$/.exec(String(mimeType))
  if (audio) return { ...extra, type: 'input_audio', data: base64Of(file), format: audio[1] }
  return { ...extra, ...textPart(textOf(file)) }
}

function assistantContent(content: readonly RenderedPart[]): Record<string, unknown> {
  const calls = content.filter(({ type }) => type === 'tool-call')
  const texts = content.filter(({ type }) => type === 'text')
  const other = content.find(({ type }) => type !== 'tool-call' && type !== 'text')
  if (other) throw unsupported('openai', `parts of type ${other.type} in assistant messages`)
  return { content: texts, tool_calls: calls.length > 0 ? calls.map(writeCall) : undefined }
}

function writeCall({ toolCallId, toolName, args }: RenderedPart): unknown {
  return { id: toolCallId, type: 'function', function: { name: toolName, arguments: JSON.stringify(args) } }
}

function readAnswer({ content, ...answer }: Record<string, unknown>): RenderedMessage {
  const parts = partsOf(content ?? []).map(readPart)
  const calls = (answer['tool_calls'] ?? []) as ToolCall[]
  return { ...answer, role: 'assistant', content: [...parts, ...calls.map(readCall)] }
}

function readPart(part: RenderedPart): RenderedPart {
  if (part.type !== 'input_audio') return part
  const { data, format, ...extra } = part
  return { ...extra, type: 'file', file: data, mimeType: `audio/${format}` }
}

function readCall({ id, type, function: called }: ToolCall): RenderedPart {
  if (!called) throw unsupported('openai', `tool calls of type ${type}`)
  const { name, arguments: text } = called
  return { type: 'tool-call', toolCallId: id, toolName: name, args: parsedArguments(name, text) }
}
