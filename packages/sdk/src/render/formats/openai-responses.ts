/** The items of OpenAI's Responses API. */
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
  textPart,
  toolResults,
} from './format.ts'

type Item = Record<string, unknown>

export const openaiResponses: Format = {
  write: (config, messages) => ({ config, messages: messages.flatMap(writeMessage) }),
  read: readAnswer,
}

/** Searches of OpenAI's own have no results to send back. */
export const SEARCHES: ReadonlySet<unknown> = new Set(['web_search_call', 'file_search_call'])

function writeMessage(message: RenderedMessage): Item[] {
  const { role, content } = message
  if (role === 'tool') return toolResults(message).map(writeResult)
  if (role !== 'assistant')
    return content.length > 0 ? [{ type: 'message', role, content: content.map(writePart) }] : []
  if ('encrypted_content' in message) return writeReasoning(message)
  const calls = content.filter(({ type, toolName }) => type === 'tool-call' && !SEARCHES.has(toolName))
  const said = content.filter(({ type, text }) => type !== 'tool-call' && text !== '').map(writeSaid)
  return [...(said.length > 0 ? [{ type: 'message', role, content: said }] : []), ...calls.map(writeCall)]
}

/** Without its encrypted content, the API has the reasoning only while it stores the response. */
function writeReasoning({ id, content, encrypted_content }: RenderedMessage): Item[] {
  if (typeof encrypted_content !== 'string') return []
  const summary = content.map(({ text }) => ({ type: 'summary_text', text }))
  return [{ type: 'reasoning', id, summary, encrypted_content }]
}

function writeSaid({ type, text, annotations = [] }: RenderedPart): Item {
  if (type !== 'text') throw unsupported('openaiResponses', `parts of type ${type} in assistant messages`)
  return { type: 'output_text', text, annotations }
}

function writePart(part: RenderedPart): Item {
  const { type, text, file, mimeType, detail } = part
  if (type === 'text') return { type: 'input_text', text }
  if (isImage(part)) return { type: 'input_image', detail: detail ?? 'auto', image_url: addressOf(imageOf(part)) }
  if (type !== 'file') throw unsupported('openaiResponses', `parts of type ${type}`)
  if (/^audio\//i.test(String(mimeType))) throw unsupported('openaiResponses', `files of type ${mimeType}`)
  const media = mediaOf(file, mimeType)
  if ('url' in media) return { type: 'input_file', file_url: media.url }
  return { type: 'input_file', file_data: addressOf(media), filename: fileName(part) }
}

function writeCall({ toolCallId, toolName, args }: RenderedPart): Item {
  return { type: 'function_call', call_id: toolCallId, name: toolName, arguments: JSON.stringify(args) }
}

function writeResult({ toolCallId, parts }: ReturnType<typeof toolResults>[number]): Item {
  const isText = parts.every(({ type }) => type === 'text')
  const output = isText ? parts.map(({ text }) => text).join('') : parts.map(writePart)
  return { type: 'function_call_output', call_id: toolCallId, output, status: 'completed' }
}

function readAnswer(item: Item): RenderedMessage[] {
  const { id, status } = item
  const role = 'assistant'
  switch (item['type']) {
    case 'message':
      return [{ id, role, content: partsOf(item['content']).map(readPart), status }]
    case 'reasoning': {
      const content = partsOf(item['summary']).map(({ text }) => textPart(text))
      return [{ id, role, content, status, encrypted_content: item['encrypted_content'] }]
    }
    case 'function_call':
    case 'web_search_call':
    case 'file_search_call':
      return [{ role, id, status, content: [readCall(item)] }]
    case 'item_reference':
      return []
    default:
      throw unsupported('openaiResponses', `responses of type ${item['type']}`)
  }
}

/** A string has become a part of type `text`. */
function readPart({ type, text, refusal, annotations }: RenderedPart): RenderedPart {
  if (type === 'output_text') return { type: 'text', annotations, text }
  if (type === 'refusal') return textPart(refusal)
  if (type === 'input_text' || type === 'text') return textPart(text)
  throw unsupported('openaiResponses', `parts of type ${type} in responses`)
}

/** A search of OpenAI's own is a call too, named by the type of its item. */
function readCall({ type, id, call_id, name, arguments: text, queries, results }: Item): RenderedPart {
  const call = { type: 'tool-call', toolCallId: String(id).replace(/^(ws|fs)_/, ''), toolName: type }
  if (type === 'web_search_call') return { ...call, args: {} }
  if (type === 'file_search_call') return { ...call, args: { queries, results } }
  return { ...call, toolCallId: call_id, toolName: name, args: parsedArguments(name, text) }
}
