/** A log entry: an execution that happened elsewhere, kept as a conversation with what is known of it. */
import type { NewConversation } from '../runs/ports.ts'
import type { Message } from '../templates/message.ts'

/** A place in a trace, in hex: 16 digits and 32. */
export interface Span {
  id: string
  traceId: string
}

/** A conversation that never ran. */
export interface LoggedConversation extends NewConversation {
  origin: 'log'
  messages: Message[]
}

/** What stands beside the conversation. */
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
