import type { Message, Span } from '@stet/contract/vocabulary'
import type { NewConversation } from '../runs/ports.ts'

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
  /** Writes the conversation and the external log atomically. Resolves with the external log's id. */
  create(conversation: LoggedConversation, entry: NewExternalLog): Promise<number>
}
