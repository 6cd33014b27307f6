import type { MessageInput } from '../message.ts'

/**
 * The body that records an external log: an execution that did not run in stet.
 * @example { path: 'support/reply', messages: [{ role: 'user', content: 'Hello' }], response: 'Hi Ada!' }
 */
export interface CreateLogBody {
  path: string
  messages: MessageInput[]
  response?: string
  parameters?: Record<string, unknown>
  customIdentifier?: string
  /** In milliseconds. */
  duration?: number
}

/** One span of a trace. Both ids are hex strings. */
export interface Span {
  id: string
  traceId: string
}

/**
 * A recorded external log. `uuid` is the conversation's uuid.
 * @example const seconds = (log.duration ?? 0) / 1000
 */
export interface LogEntry {
  id: number
  uuid: string
  documentUuid: string
  /** The version's id. */
  commitId: number
  resolvedContent: string
  contentHash: string
  parameters: Record<string, unknown>
  customIdentifier: string | null
  /** In milliseconds. */
  duration: number | null
  source: 'api'
  createdAt: string
  updatedAt: string
  promptSpan: Span
  completionSpan: Span
}
