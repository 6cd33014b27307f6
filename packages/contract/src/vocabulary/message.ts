export const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const
export type Role = (typeof ROLES)[number]

/** Parts may have further keys, for example `cache_control`. The server keeps these keys. */
interface OpenPart {
  [key: string]: unknown
}

/** @example { type: 'text', text: 'Hello' } */
export interface TextPart extends OpenPart {
  type: 'text'
  text: string
}

/** @example { type: 'image', image: 'https://example.com/cat.png' } */
export interface ImagePart extends OpenPart {
  type: 'image'
  /** A URL, a data URL or base64. */
  image: string
  mimeType?: string
}

/** @example { type: 'file', file: 'https://example.com/terms.pdf', mimeType: 'application/pdf' } */
export interface FilePart extends OpenPart {
  type: 'file'
  /** A URL, a data URL or base64. */
  file: string
  mimeType: string
}

/** @example { type: 'reasoning', text: 'The customer asks for a refund.' } */
export interface ReasoningPart extends OpenPart {
  type: 'reasoning'
  text: string
  id?: string
}

/** @example { type: 'redacted-reasoning', data: 'RW5jcnlwdGVk' } */
export interface RedactedReasoningPart extends OpenPart {
  type: 'redacted-reasoning'
  data: string
}

/** @example { type: 'tool-call', toolCallId: 'call_8fZ', toolName: 'lookup_order', args: { id: 12 } } */
export interface ToolCallPart extends OpenPart {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  args: Record<string, unknown>
}

/** @example { type: 'tool-result', toolCallId: 'call_8fZ', toolName: 'lookup_order', result: { status: 'sent' } } */
export interface ToolResultPart extends OpenPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  result: unknown
  isError?: boolean
}

/** @example { type: 'text', text: 'Hello' } */
export type MessagePart =
  | TextPart
  | ImagePart
  | FilePart
  | ReasoningPart
  | RedactedReasoningPart
  | ToolCallPart
  | ToolResultPart

/**
 * A message in a response. `content` is always a list of parts, including tool calls and results.
 * @example { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }
 */
export interface Message {
  role: Role
  content: MessagePart[]
  [key: string]: unknown
}

/**
 * A message in a request. `content` may be plain text. Messages from a response are valid here.
 * @example { role: 'user', content: 'Where is my order?' }
 */
export interface MessageInput {
  role: Role
  content: string | MessagePart[]
  [key: string]: unknown
}

/** @example { id: 'call_8fZ', name: 'lookup_order', arguments: { id: 12 } } */
export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
}
