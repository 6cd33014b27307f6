/** The port for external logs: executions that were recorded from outside. */
import type { NewConversation } from '../runs/ports.ts'
import type { Message } from '../templates/message.ts'

/** Trace position in hex: 16 and 32 digits. */
export interface Span {
  id: string
  traceId: string
}

/** A conversation that never ran in stet. */
export interface LoggedConversation extends NewConversation {
  origin: 'log'
  messages: Message[]
}

/** The data stored with the conversation. */
export interface NewExternalLog {
  /** The addressed version. */
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
  /** Writes both rows or none. Resolves with the id after the commit. */
  create(conversation: LoggedConversation, entry: NewExternalLog): Promise<number>
}
