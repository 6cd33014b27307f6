/** Reads the caller's messages, in the forms of both interfaces, as messages of stet. */

import { LIMITS, type Message, type MessagePart, type Role, type ToolCallPart } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { isObject } from '@stet/template/parameters'
import { refuseValue } from '../../shared/text-guards.ts'
import { type Fields, invalid, listAt, objectAt, optional, textAt, unsupported, unsupportedContent } from './fields.ts'

/** An item that an earlier response has. Its content is read later. */
export interface ItemReference {
  reference: string
  param: string
}

const roles: readonly Role[] = ['system', 'developer', 'user', 'assistant', 'tool']

/** @param messages the field `messages` of Chat Completions. @throws DoorRefusal */
export function readChatMessages(messages: unknown): Message[] {
  const list = limitedList(messages, 'messages').map((value, place) => {
    const param = `messages[${place}]`
    return { fields: objectAt(value, param), param }
  })
  return namedResults(list.map(({ fields, param }) => chatMessage(fields, param)))
}

function limitedList(value: unknown, param: string): readonly unknown[] {
  const list = listAt(value, param)
  if (list.length > LIMITS.messages) throw invalid(param, `a list of at most ${LIMITS.messages} entries`)
  return list
}

function chatMessage(fields: Fields, param: string): Message {
  const role = roleOf(fields, param)
  if (role === 'tool') {
    const id = textAt(fields['tool_call_id'], `${param}.tool_call_id`)
    return toolResult(id, resultText(fields['content'], `${param}.content`))
  }
  const content = contentOf(fields['content'], `${param}.content`)
  const refusal = optional(fields, 'refusal', textAt, `${param}.`)
  if (refusal !== undefined) content.push({ type: 'text', text: refusal })
  const calls = optional(fields, 'tool_calls', listAt, `${param}.`) ?? []
  if (role === 'assistant') content.push(...calls.map((call, place) => chatCall(call, `${param}.tool_calls[${place}]`)))
  return { role, content }
}

function chatCall(value: unknown, param: string): ToolCallPart {
  const call = objectAt(value, param)
  const type = optional(call, 'type', textAt, `${param}.`) ?? 'function'
  if (type !== 'function') throw unsupportedContent(`${param}.type`, `A tool call of the type '${type}'`)
  const called = objectAt(call['function'], `${param}.function`)
  return {
    type: 'tool-call',
    toolCallId: textAt(call['id'], `${param}.id`),
    toolName: textAt(called['name'], `${param}.function.name`),
    args: argumentsOf(called['arguments'], `${param}.function.arguments`),
  }
}

/** @param input the field `input` of Responses. @throws DoorRefusal */
export function readInput(input: unknown): (Message | ItemReference)[] {
  if (typeof input === 'string') return [{ role: 'user', content: [{ type: 'text', text: input }] }]
  const items: (Message | ItemReference)[] = []
  let isAfterCall = false
  for (const [place, value] of limitedList(input, 'input').entries()) {
    const param = `input[${place}]`
    const item = inputItem(objectAt(value, param), param)
    if (!item) continue
    const isCall = !('reference' in item) && item.content[0]?.type === 'tool-call'
    const last = items.at(-1)
    // Parallel calls are one message, because a provider wants their results after all of them.
    if (isCall && isAfterCall && last && !('reference' in last)) last.content.push(...item.content)
    else items.push(item)
    isAfterCall = isCall
  }
  return namedResults(items)
}

function inputItem(item: Fields, param: string): Message | ItemReference | undefined {
  const type = optional(item, 'type', textAt, `${param}.`) ?? 'message'
  switch (type) {
    case 'message': {
      const role = roleOf(item, param)
      if (role === 'tool') throw invalid(`${param}.role`, '`user`, `assistant`, `system` or `developer`')
      return { role, content: contentOf(item['content'], `${param}.content`) }
    }
    case 'function_call': {
      const call: ToolCallPart = {
        type: 'tool-call',
        toolCallId: textAt(item['call_id'], `${param}.call_id`),
        toolName: textAt(item['name'], `${param}.name`),
        args: argumentsOf(item['arguments'], `${param}.arguments`),
      }
      return { role: 'assistant', content: [call] }
    }
    case 'function_call_output': {
      const id = textAt(item['call_id'], `${param}.call_id`)
      return toolResult(id, resultText(item['output'], `${param}.output`))
    }
    case 'item_reference':
      return { reference: textAt(item['id'], `${param}.id`), param: `${param}.id` }
    case 'reasoning':
      // The signatures of a provider do not survive this door.
      return undefined
    default:
      throw unsupportedContent(`${param}.type`, `An item of the type '${type}'`)
  }
}

function roleOf(fields: Fields, param: string): Role {
  const written = textAt(fields['role'], `${param}.role`)
  const role = roles.find((each) => each === written)
  if (role) return role
  if (written === 'function') throw unsupported(`${param}.role`, 'Send tool results with the role `tool`')
  throw invalid(`${param}.role`, `one of ${roles.join(', ')}`)
}

function argumentsOf(value: unknown, param: string): Record<string, unknown> {
  try {
    const args: unknown = JSON.parse(textAt(value, param) || '{}')
    if (isObject(args) && refuseValue(args) === undefined) return { ...args }
  } catch {
    // Refused below.
  }
  throw invalid(param, 'the JSON text of an object')
}

function toolResult(toolCallId: string, result: string): Message {
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: unknownTool, result }] }
}

function resultText(value: unknown, param: string): string {
  if (typeof value === 'string') return value
  const texts = listAt(value, param).map((part, place) => {
    const fields = objectAt(part, `${param}[${place}]`)
    const type = textAt(fields['type'], `${param}[${place}].type`)
    if (!textTypes.has(type)) throw unsupportedContent(`${param}[${place}].type`, `A tool result of the type '${type}'`)
    return textAt(fields['text'], `${param}[${place}].text`)
  })
  return texts.join('\n')
}

function contentOf(value: unknown, param: string): MessagePart[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  return listAt(value, param).map((part, place) => readPart(objectAt(part, `${param}[${place}]`), `${param}[${place}]`))
}

const textTypes: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text'])

/** Reads a text, an image or a file. @throws DoorRefusal */
export function readPart(part: Fields, param: string): MessagePart {
  const type = textAt(part['type'], `${param}.type`)
  if (textTypes.has(type)) return { type: 'text', text: textAt(part['text'], `${param}.text`) }
  if (part['file_id'] !== undefined && part['file_id'] !== null)
    throw unsupportedContent(`${param}.file_id`, 'A file of OpenAI')
  switch (type) {
    case 'refusal':
      return { type: 'text', text: textAt(part['refusal'], `${param}.refusal`) }
    case 'image_url':
      return image(objectAt(part['image_url'], `${param}.image_url`)['url'], `${param}.image_url.url`)
    case 'input_image':
      return image(part['image_url'], `${param}.image_url`)
    case 'file': {
      const file = objectAt(part['file'], `${param}.file`)
      if (file['file_id'] !== undefined && file['file_id'] !== null)
        throw unsupportedContent(`${param}.file.file_id`, 'A file of OpenAI')
      return filePart(file, 'file_data', `${param}.file`)
    }
    case 'input_file':
      return filePart(part, part['file_data'] ? 'file_data' : 'file_url', param)
    default:
      throw unsupportedContent(`${param}.type`, `Content of the type '${type}'`)
  }
}

function image(value: unknown, param: string): MessagePart {
  return { type: 'image', image: textAt(value, param) }
}

const mimeTypes = new Map(
  Object.entries({
    csv: 'text/csv',
    gif: 'image/gif',
    htm: 'text/html',
    html: 'text/html',
    jpeg: 'image/jpeg',
    jpg: 'image/jpeg',
    json: 'application/json',
    md: 'text/markdown',
    pdf: 'application/pdf',
    png: 'image/png',
    txt: 'text/plain',
    webp: 'image/webp',
  }),
)

function filePart(fields: Fields, key: 'file_data' | 'file_url', param: string): MessagePart {
  const file = textAt(fields[key], `${param}.${key}`)
  const filename = optional(fields, 'filename', textAt, `${param}.`)
  const [, ofDataUrl] = /^data:([^;,]+)/.exec(file.slice(0, 256)) ?? []
  const named = filename ?? (key === 'file_url' ? file.split(/[?#]/, 1)[0] : '')
  const mimeType =
    ofDataUrl ?? mimeTypes.get(named?.split('.').at(-1)?.toLowerCase() ?? '') ?? 'application/octet-stream'
  return { type: 'file', file, mimeType, ...defined({ filename }) }
}

const unknownTool = 'unknown'

/**
 * Gives each tool result the name of its call, which these interfaces do not repeat.
 * @param earlier messages that precede these ones.
 */
export function namedResults<Item extends Message | ItemReference>(
  items: Item[],
  earlier: readonly Message[] = [],
): Item[] {
  const names = new Map<string, string>()
  for (const item of [...earlier, ...items]) {
    if ('reference' in item) continue
    for (const part of (item as Message).content)
      if (part.type === 'tool-call') names.set(part.toolCallId, part.toolName)
  }
  for (const item of items) {
    if ('reference' in item) continue
    for (const part of (item as Message).content) {
      if (part.type === 'tool-result' && part.toolName === unknownTool)
        part.toolName = names.get(part.toolCallId) ?? unknownTool
    }
  }
  return items
}
