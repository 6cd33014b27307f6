import type { NewConversation } from '../runs/ports.ts'
import type { Message } from '../templates/message.ts'

/** A position in a trace, in hex: 16 digits for the id and 32 for the trace. */
export interface Span {
  id: string
  traceId: string
}

export interface LoggedConversation extends NewConversation {
  origin: 'log'
  messages: Message[]
}

export interface NewExternalLog {
  versionId: number
  parameters: Record<string, unknown>
  durationMs: number | null
  promptSpan: Span
  completionSpan: Span
}

export interface ExternalLog extends NewExternalLog {
  id: number
  conversation: LoggedConversation
  resolvedContent: string
}

export interface ExternalLogStore {
  /** Writes both rows in one transaction. Resolves with the id after the commit. */
  create(conversation: LoggedConversation, entry: NewExternalLog): Promise<number>
}
