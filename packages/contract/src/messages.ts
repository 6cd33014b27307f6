import { z } from 'zod'
import { JsonObject } from './common.ts'

/** Who speaks in a message. */
export const Role = z.enum(['system', 'developer', 'user', 'assistant', 'tool'])
export type Role = z.infer<typeof Role>

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

/** Parts keep keys that stet does not know, `cache_control` for example. */
export const TextPart = z.looseObject(shapes.text).meta({ id: 'TextPart' })
export type TextPart = z.infer<typeof TextPart>
export const ImagePart = z.looseObject(shapes.image).meta({ id: 'ImagePart' })
export type ImagePart = z.infer<typeof ImagePart>
export const FilePart = z.looseObject(shapes.file).meta({ id: 'FilePart' })
export type FilePart = z.infer<typeof FilePart>
export const ReasoningPart = z.looseObject(shapes.reasoning).meta({ id: 'ReasoningPart' })
export type ReasoningPart = z.infer<typeof ReasoningPart>
export const RedactedReasoningPart = z.looseObject(shapes.redactedReasoning).meta({ id: 'RedactedReasoningPart' })
export type RedactedReasoningPart = z.infer<typeof RedactedReasoningPart>
export const ToolCallPart = z.looseObject(shapes.toolCall).meta({ id: 'ToolCallPart' })
export type ToolCallPart = z.infer<typeof ToolCallPart>
export const ToolResultPart = z.looseObject(shapes.toolResult).meta({ id: 'ToolResultPart' })
export type ToolResultPart = z.infer<typeof ToolResultPart>

/**
 * One part of the content of a message.
 *
 * @example
 * { "type": "text", "text": "Hello" }
 */
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
  .meta({ id: 'MessagePart' })
export type MessagePart = z.infer<typeof MessagePart>

/**
 * A message as the API returns it: content is always a list of parts, tool calls and results are parts as well.
 *
 * @example
 * { "role": "assistant", "content": [{ "type": "text", "text": "Hello" }] }
 */
export const Message = z
  .looseObject({ role: Role, content: z.array(MessagePart) })
  .meta({ id: 'Message', description: 'A message as it is returned. It can be sent back as it is.' })
export type Message = z.infer<typeof Message>

/**
 * A call of a tool that the model asks for.
 *
 * @example
 * { "id": "call_8fZ…", "name": "lookup_order", "arguments": { "id": 12 } }
 */
export const ToolCall = z.object({ id: z.string(), name: z.string(), arguments: JsonObject }).meta({ id: 'ToolCall' })
export type ToolCall = z.infer<typeof ToolCall>
