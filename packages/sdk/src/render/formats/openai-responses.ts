/** The items of OpenAI's Responses API. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { unsupported } from '../failures.ts'
import { base64Of, type Format, parsedArguments, partsOf, textOf, textPart, toolResults } from './format.ts'

type Item = Record<string, unknown>

export const openaiResponses: Format = {
  write: (config, messages) => ({ config, messages: messages.flatMap(writeMessage) }),
  read: readAnswer,
}

function writeMessage(message: RenderedMessage): Item[] {
  const { role, content } = message
  if (role === 'tool') return toolResults(message).map(writeResult)
  const calls = content.filter(({ type }) => type === 'tool-call')
  const parts = content.filter(({ type }) => type !== 'tool-call')
  // The API expects `output_text` from an assistant. Applications that come from promptl-ai expect `input_text`.
  return [{ type: 'message', role, content: parts.map(writePart) }, ...calls.map(writeCall)]
}

function writePart(part: RenderedPart): Item {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part['text'] }
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: textOf(part['image']) }
    case 'file':
      return { type: 'input_file', file_data: fileData(part) }
    default:
      throw unsupported('openaiResponses', `parts of type ${part.type}`)
  }
}

function fileData({ file, mimeType }: RenderedPart): string {
  return mimeType === 'audio/mpeg' || mimeType === 'audio/wav' ? base64Of(file) : textOf(file)
}

function writeCall({ toolCallId, toolName, args }: RenderedPart): Item {
  return { type: 'function_call', call_id: toolCallId, name: toolName, arguments: JSON.stringify(args) }
}

function writeResult({ toolCallId, parts }: ReturnType<typeof toolResults>[number]): Item {
  const output = parts.map((part) => (part.type === 'text' ? part['text'] : '')).join('')
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
