import { z } from 'zod'
import { JsonObject, utf8Bytes } from '../common.ts'
import { documentedAs } from '../documented.ts'
import { LIMITS } from '../vocabulary/limits.ts'

export const Role = z.enum(['system', 'developer', 'user', 'assistant', 'tool'])

const shapes = {
  text: { type: z.literal('text'), text: z.string() },
  image: {
    type: z.literal('image'),
    image: z.string().meta({ description: 'A URL, a data URL or base64.' }),
    mimeType: z.string().exactOptional(),
  },
  file: {
    type: z.literal('file'),
    file: z.string().meta({ description: 'A URL, a data URL or base64.' }),
    mimeType: z.string(),
  },
  reasoning: { type: z.literal('reasoning'), text: z.string(), id: z.string().exactOptional() },
  redactedReasoning: { type: z.literal('redacted-reasoning'), data: z.string() },
  toolCall: { type: z.literal('tool-call'), toolCallId: z.string(), toolName: z.string(), args: JsonObject },
  toolResult: {
    type: z.literal('tool-result'),
    toolCallId: z.string(),
    toolName: z.string(),
    result: z.unknown(),
    isError: z.boolean().exactOptional(),
  },
}

export const TextPart = z.looseObject(shapes.text).meta({ id: 'TextPart', example: "{ type: 'text', text: 'Hello' }" })
export const ImagePart = z
  .looseObject(shapes.image)
  .meta({ id: 'ImagePart', example: "{ type: 'image', image: 'https://example.com/cat.png' }" })
export const FilePart = z.looseObject(shapes.file).meta({
  id: 'FilePart',
  example: "{ type: 'file', file: 'https://example.com/terms.pdf', mimeType: 'application/pdf' }",
})
export const ReasoningPart = z
  .looseObject(shapes.reasoning)
  .meta({ id: 'ReasoningPart', example: "{ type: 'reasoning', text: 'The customer asks for a refund.' }" })
export const RedactedReasoningPart = z
  .looseObject(shapes.redactedReasoning)
  .meta({ id: 'RedactedReasoningPart', example: "{ type: 'redacted-reasoning', data: 'RW5jcnlwdGVk' }" })
export const ToolCallPart = z.looseObject(shapes.toolCall).meta({
  id: 'ToolCallPart',
  example: "{ type: 'tool-call', toolCallId: 'call_8fZ', toolName: 'lookup_order', args: { id: 12 } }",
})
export const ToolResultPart = z.looseObject(shapes.toolResult).meta({
  id: 'ToolResultPart',
  example: "{ type: 'tool-result', toolCallId: 'call_8fZ', toolName: 'lookup_order', result: { status: 'sent' } }",
})

export const MessagePart = z
  .discriminatedUnion('type', [
    TextPart,
    ImagePart,
    FilePart,
    ReasoningPart,
    RedactedReasoningPart,
    ToolCallPart,
    ToolResultPart,
  ])
  .meta({ id: 'MessagePart', example: "{ type: 'text', text: 'Hello' }" })

export const Message = z.looseObject({ role: Role, content: z.array(MessagePart) }).meta({
  id: 'Message',
  description:
    'A message in a response. `content` is always a list of parts, including tool calls and results. You can send it back unchanged. Parts may have further keys, for example `cache_control`, which the server keeps.',
  example: "{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }",
})

export const ToolCall = z
  .object({ id: z.string(), name: z.string(), arguments: JsonObject })
  .meta({ id: 'ToolCall', example: "{ id: 'call_8fZ', name: 'lookup_order', arguments: { id: 12 } }" })

const isSmall = (value: unknown): boolean => utf8Bytes(JSON.stringify(value) ?? '') <= LIMITS.toolPayloadBytes
const tooLarge = { error: `must have at most ${LIMITS.toolPayloadBytes} bytes as JSON` }

const CallPart = ToolCallPart.safeExtend({ args: JsonObject.refine(isSmall, tooLarge) })
const ResultPart = ToolResultPart.safeExtend({ result: z.unknown().refine(isSmall, tooLarge) })

const contentOf = <P extends z.ZodType>(part: P) => z.array(part, { error: 'a string or a list of parts is required' })

const byRole = z.discriminatedUnion(
  'role',
  [
    z.looseObject({ role: z.enum(['system', 'developer']), content: contentOf(partsOf([TextPart])) }),
    z.looseObject({
      role: z.literal('user'),
      name: z.string().exactOptional(),
      content: contentOf(partsOf([TextPart, ImagePart, FilePart])),
    }),
    z.looseObject({
      role: z.literal('assistant'),
      content: contentOf(partsOf([TextPart, ReasoningPart, RedactedReasoningPart, ImagePart, FilePart, CallPart])),
      // `withOneForm` has already merged a list into `content`. This schema rejects a value that is not a list.
      toolCalls: z.array(z.unknown()).exactOptional(),
    }),
    z.looseObject({ role: z.literal('tool'), content: contentOf(partsOf([ResultPart])) }),
  ],
  { error: `must be one of ${Role.options.join(', ')}` },
)

function partsOf<const P extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]>(parts: P) {
  return z.discriminatedUnion('type', parts, { error: 'is not a type of part that this role can have' })
}

export const MessageInput = documentedAs(
  z.preprocess(withOneForm, byRole),
  z.looseObject({ role: Role, content: z.union([z.string(), z.array(MessagePart)]) }).meta({
    id: 'MessageInput',
    example: "{ role: 'user', content: 'Where is my order?' }",
    description:
      'A message in a request. `system` and `developer` contain text; `user` contains text, images and files; ' +
      '`assistant` contains all of these, reasoning and tool calls; `tool` contains tool results, or `toolId`, ' +
      '`toolName` and text. You can send back every message that the API returns.',
  }),
)

type Bag = Record<string, unknown>

const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Converts all accepted forms of a message to one. Keeps invalid values, so that the schema reports their position. */
function withOneForm(value: unknown): unknown {
  if (!isBag(value)) return value
  const message = withoutNull(value, ['name', 'toolCalls', 'toolId', 'toolName'])
  const content = partsFrom(message['content'])
  if (message['role'] === 'assistant') return withToolCallParts({ ...message, content })
  if (message['role'] === 'tool') return withResultPart({ ...message, content })
  return { ...message, content }
}

function partsFrom(content: unknown): unknown {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.map(partFrom) : content
}

function partFrom(value: unknown): unknown {
  if (!isBag(value)) return value
  const part = withoutNull(value, ['mimeType', 'id', 'isError'])
  if (part['type'] === 'text') return renamed(part, 'content', 'text')
  if (part['type'] === 'tool-call') return renamed(part, 'toolArguments', 'args')
  if (part['type'] === 'tool-result') return { ...part, result: part['result'] ?? null }
  return part
}

/** Moves the value of `from` to `to`, unless `to` already has a value. */
function renamed(part: Bag, from: string, to: string): Bag {
  const { [from]: other, ...rest } = part
  return other === undefined ? part : { ...rest, [to]: rest[to] ?? other }
}

function withoutNull(value: Bag, keys: string[]): Bag {
  return Object.fromEntries(Object.entries(value).filter(([key, entry]) => entry !== null || !keys.includes(key)))
}

function withToolCallParts(message: Bag): Bag {
  const { toolCalls, ...rest } = message
  if (!Array.isArray(toolCalls) || !Array.isArray(rest['content'])) return message
  const content: unknown[] = rest['content']
  const present = new Set(content.map((part) => (isBag(part) ? part['toolCallId'] : undefined)))
  const missing = toolCalls.filter((call) => !isBag(call) || !present.has(call['id'])).map(callPart)
  return { ...rest, content: [...content, ...missing] }
}

function callPart(call: unknown): unknown {
  if (!isBag(call)) return call
  return { type: 'tool-call', toolCallId: call['id'], toolName: call['name'], args: call['arguments'] }
}

/** Converts PromptL's form, which has `toolId` and `toolName` on the message and the result as text parts. */
function withResultPart(message: Bag): Bag {
  const { toolId, toolName, ...rest } = message
  const content = rest['content']
  if (toolId === undefined || !Array.isArray(content)) return message
  const texts = content.map((part) => (isBag(part) && part['type'] === 'text' ? part['text'] : undefined))
  if (texts.includes(undefined)) return { ...rest, content }
  return { ...rest, content: [{ type: 'tool-result', toolCallId: toolId, toolName, result: texts.join('') }] }
}
