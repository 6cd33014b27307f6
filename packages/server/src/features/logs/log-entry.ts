/** An external log: an execution from elsewhere, stored as a conversation with its known facts. */
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

/** The data stored beside the conversation. */
export interface NewLogEntry {
  /** The addressed version. */
  versionId: number
  parameters: Record<string, unknown>
  durationMs: number | null
  promptSpan: Span
  completionSpan: Span
}

export interface LogEntry extends NewLogEntry {
  id: number
  conversation: LoggedConversation
  resolvedContent: string
}
