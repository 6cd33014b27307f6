/** The messages and parts that tags make. */
import type { Tag } from '../syntax/nodes.ts'
import { EvaluationError, type Meter, type Range } from './values/fuel.ts'
import { copiedWellFormed, jsonValue } from './values/printed.ts'
import { isObject, type ObjectValue, setOwn, toText, type Value } from './values/values.ts'

/** Attributes from the prompt become additional keys. */
export type RenderedPart = { type: string } & Record<string, unknown>

export interface RenderedMessage {
  role: string
  content: RenderedPart[]
  [extra: string]: unknown
}

/** A part, and the tag or expression that it comes from. */
export interface PlacedPart {
  part: RenderedPart
  at: Range | undefined
}

export type Attributes = Record<string, Value>

export const MESSAGE_TAGS: ReadonlySet<string> = new Set(['message', 'system', 'user', 'assistant', 'tool'])
const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
const TYPES_BY_TAG: ReadonlyMap<string, string> = new Map([
  ['content-text', 'text'],
  ['content-image', 'image'],
  ['content-file', 'file'],
  ['tool-call', 'tool-call'],
])

/** @throws EvaluationError */
export function messageOf(tag: Tag, attributes: Attributes, parts: PlacedPart[], meter: Meter): RenderedMessage {
  const { role: given, ...extra } = attributes
  const role = tag.name === 'message' ? given : tag.name
  if (tag.name !== 'message' && given !== undefined) extra['role'] = given
  if (typeof role !== 'string' || !ROLES.has(role)) {
    throw new EvaluationError('invalid-message-role', `Invalid message role: ${toText(role, meter)}`, tag)
  }
  const call = role === 'assistant' ? undefined : parts.find(({ part }) => part.type === 'tool-call')
  if (call) {
    const message = 'Only assistant messages can contain tool calls'
    throw new EvaluationError('invalid-tool-call-placement', message, call.at)
  }
  const content = parts.map(({ part }) => part)
  if (role === 'tool') return toolMessage(tag, extra, content, meter)
  if (role === 'user') extra['name'] = extra['name'] ? toText(extra['name'], meter) : undefined
  return { ...plain(extra), role, content }
}

function toolMessage(
  tag: Tag,
  { id, name, ...extra }: Attributes,
  content: RenderedPart[],
  meter: Meter,
): RenderedMessage {
  if (id === undefined) {
    throw new EvaluationError('tool-message-without-id', 'Tool messages must have an id attribute', tag)
  }
  if (name === undefined) {
    throw new EvaluationError('tool-message-without-name', 'Tool messages must have a name attribute', tag)
  }
  const toolCallId = toText(id, meter)
  const toolName = toText(name, meter)
  const part = { type: 'tool-result', toolCallId, toolName, result: toolResult(content) }
  return { ...plain(extra), role: 'tool', content: [part] }
}

/** A text-only result becomes one string. Other results stay a list of parts. */
function toolResult(parts: readonly RenderedPart[]): unknown {
  return parts.every((part) => part.type === 'text') ? parts.map((part) => String(part['text'])).join('\n') : parts
}

/** @param text the content of the tag */
export function partOf(tag: Tag, attributes: Attributes, text: string, meter: Meter): RenderedPart {
  const { type: given, ...extra } = attributes
  const type = TYPES_BY_TAG.get(tag.name) ?? given
  if (tag.name !== 'content' && given !== undefined) extra['type'] = given
  switch (type) {
    case 'text':
    case 'image':
      if (text === '') throw emptyContent(tag)
      return { ...plain(extra), type, [type]: text }
    case 'file':
      if (text === '') throw emptyContent(tag)
      return filePart(tag, extra, text, meter)
    case 'tool-call':
      return toolCallPart(tag, extra, meter)
    case undefined:
      // promptl-ai has this code for content tags too.
      throw new EvaluationError('message-tag-without-role', 'Content tags must have a type attribute', tag)
    default:
      throw new EvaluationError('invalid-content-type', `Invalid content type: ${toText(type, meter)}`, tag)
  }
}

function emptyContent(tag: Tag): EvaluationError {
  return new EvaluationError('empty-content-tag', 'Content tags cannot be empty', tag)
}

function filePart(tag: Tag, { mime, ...extra }: Attributes, file: string, meter: Meter): RenderedPart {
  if (!mime) {
    throw new EvaluationError('file-tag-without-mime-type', 'File tags must have a mime type attribute', tag)
  }
  return { ...plain(extra), type: 'file', file, mimeType: toText(mime, meter) }
}

function toolCallPart(tag: Tag, { id, name, arguments: given, ...extra }: Attributes, meter: Meter): RenderedPart {
  if (!id) throw new EvaluationError('tool-call-tag-without-id', 'Tool call tags must have an id attribute', tag)
  if (!name) throw new EvaluationError('tool-call-without-name', 'Tool calls must have a name attribute', tag)
  const args = typeof given === 'string' ? parsedArguments(given, tag, meter) : (given ?? {})
  if (!isObject(args)) {
    const message = 'Tool calls must contain a JSON object as arguments'
    throw new EvaluationError('invalid-tool-call-arguments', message, tag)
  }
  const toolCallId = toText(id, meter)
  return { ...plain(extra), type: 'tool-call', toolCallId, toolName: toText(name, meter), args }
}

function parsedArguments(text: string, tag: Tag, meter: Meter): Value {
  if (text === '') return {}
  meter.spendText(text.length)
  let parsed: Value
  try {
    parsed = JSON.parse(text)
  } catch {
    const message = 'Tool calls must contain a valid JSON object as arguments'
    throw new EvaluationError('invalid-tool-call-arguments', message, tag)
  }
  return copiedWellFormed(parsed, meter)
}

function plain(values: ObjectValue): Record<string, unknown> {
  const kept: ObjectValue = {}
  // bounded: the tag has paid for its attributes
  for (const [key, value] of Object.entries(values)) if (value !== undefined) setOwn(kept, key, jsonValue(value))
  return kept
}
