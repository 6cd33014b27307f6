/** The messages of OpenAI's chat completions. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { unsupported } from '../failures.ts'
import {
  addressOf,
  type Format,
  fileName,
  imageOf,
  isImage,
  mediaOf,
  parsedArguments,
  partsOf,
  textOf,
  textPart,
  toolResults,
} from './format.ts'

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

/** Keys of a response that the API accepts again. Other services need their reasoning after tool calls. */
const ANSWER_KEYS = ['name', 'refusal', 'reasoning_content', 'reasoning_details']

function writeMessage(message: RenderedMessage): unknown[] {
  const { role, content } = message
  switch (role) {
    case 'system':
    case 'developer':
      return [{ ...picked(message, ['name']), role, content: systemContent(role, content) }]
    case 'user':
      return [{ ...picked(message, ['name']), role, content: content.length > 0 ? content.map(userPart) : '' }]
    case 'assistant':
      return [{ ...picked(message, ANSWER_KEYS), role, ...assistantContent(content) }]
    case 'tool':
      return toolResults(message).map(({ toolCallId, parts }) => {
        return { role, tool_call_id: toolCallId, content: textsOf(parts, 'tool results') }
      })
    default:
      throw unsupported('openai', `the role ${role}`)
  }
}

function picked(message: RenderedMessage, keys: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(message).filter(([key]) => keys.includes(key)))
}

function textsOf(content: readonly RenderedPart[], place: string): readonly RenderedPart[] {
  const other = content.find(({ type }) => type !== 'text')
  if (other) throw unsupported('openai', `parts of type ${other.type} in ${place}`)
  return content
}

function systemContent(role: string, content: readonly RenderedPart[]): unknown {
  const texts = textsOf(content, `${role} messages`)
  return texts.length > 1 ? texts : (texts[0]?.['text'] ?? '')
}

function userPart(part: RenderedPart): unknown {
  const { type, file, mimeType, image, detail, name, ...extra } = part
  if (type === 'text') return part
  if (isImage(part)) {
    return { ...extra, type: 'image_url', image_url: { url: addressOf(imageOf(part)), ...(detail ? { detail } : {}) } }
  }
  if (type !== 'file') throw unsupported('openai', `parts of type ${type} in user messages`)
  const format = audioFormat(String(mimeType))
  if (!format && mimeType !== 'application/pdf') return { ...extra, ...textPart(textOf(file)) }
  const media = mediaOf(file, mimeType)
  if ('url' in media) throw unsupported('openai', `files of type ${mimeType} by URL`)
  if (format) return { ...extra, type: 'input_audio', input_audio: { data: media.base64, format } }
  return { ...extra, type, file: { file_data: addressOf(media), filename: fileName(part) } }
}

function audioFormat(mimeType: string): 'wav' | 'mp3' | undefined {
  if (/^audio\/(x-|vnd\.)?wave?$/.test(mimeType)) return 'wav'
  return /^audio\/(mpeg|mp3)$/.test(mimeType) ? 'mp3' : undefined
}

function assistantContent(content: readonly RenderedPart[]): Record<string, unknown> {
  const calls = content.filter(({ type }) => type === 'tool-call')
  const texts = textsOf(
    content.filter(({ type }) => type !== 'tool-call'),
    'assistant messages',
  )
  if (calls.length === 0) return { content: texts.length > 0 ? texts : '' }
  return { content: texts.length > 0 ? texts : null, tool_calls: calls.map(writeCall) }
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
