/** Messages as stet stores them: content is always a list of parts, and unknown keys are kept. */

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

type Extra = { [extra: string]: unknown }

export type MessagePart =
  | ({ type: 'text'; text: string } & Extra)
  | ({ type: 'image'; image: string; mimeType?: string } & Extra)
  | ({ type: 'file'; file: string; mimeType: string } & Extra)
  | ({ type: 'reasoning'; text: string; id?: string } & Extra)
  | ({ type: 'redacted-reasoning'; data: string } & Extra)
  | ({ type: 'tool-call'; toolCallId: string; toolName: string; args: Record<string, unknown> } & Extra)
  | ({ type: 'tool-result'; toolCallId: string; toolName: string; result: unknown; isError?: boolean } & Extra)

export type Message = { role: Role; content: MessagePart[] } & Extra

export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
}
