import type { RunErrorCode } from '../error-codes.ts'
import type { Message, ToolCall } from '../message.ts'
import type { ConversationOrigin, RequestChannel, RunState } from '../run-state.ts'
import type { Usage } from '../usage.ts'
import type { RunSource } from './runs.ts'

/** @example const failed = items.filter(({ status }) => status === 'error') */
export interface ConversationSummary {
  uuid: string
  source: RunSource
  status: RunState
  error: { errorCode: RunErrorCode; message: string } | null
  /** Tool calls that wait for the caller's results. */
  toolRequests: ToolCall[]
  projectId: number
  versionUuid: string
  documentUuid: string
  path: string
  /** SHA-256 of the prompt's text at the time of the run, in lower-case hex. */
  contentHash: string
  customIdentifier: string | null
  origin: ConversationOrigin
  /** `console` if a session of the console started the conversation. */
  via: RequestChannel
  tokenUsage: Usage
  /** In US dollars. */
  cost: number
  createdAt: string
  updatedAt: string
  endedAt: string | null
}

/**
 * A conversation: the messages of a run and of the chats that followed.
 * @example const last = conversation.conversation.at(-1)
 */
export interface Conversation extends ConversationSummary {
  /** The list is empty while the run is queued, and grows while the run is active. */
  conversation: Message[]
}

/** @example const isLastPage = page.nextCursor === null */
export interface ConversationPage {
  items: ConversationSummary[]
  nextCursor: string | null
}

/**
 * Filters conversations. A conversation must match every given field.
 * @example { status: 'error', from: '2026-01-01T00:00:00Z' }
 */
export interface ListConversationsQuery {
  projectId?: string
  versionUuid?: string
  documentUuid?: string
  path?: string
  status?: RunState
  origin?: ConversationOrigin
  customIdentifier?: string
  /** The bound is inclusive. */
  from?: string
  /** The bound is inclusive. */
  to?: string
  /** Default: 25. */
  limit?: number
  cursor?: string
}

/** @example { customIdentifier: 'customer-7' } */
export interface EraseConversationsQuery {
  customIdentifier: string
  projectId?: string
}

export interface DeletedConversation {
  uuid: string
}

/** @example { deleted: 12, active: 1 } // stop the active one, then delete again */
export interface ErasedConversations {
  deleted: number
  /** Conversations that were kept because their run is active. */
  active: number
}
