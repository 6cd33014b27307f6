import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  ContentHash,
  ConversationParams,
  Id,
  LIMITS,
  orTap,
  type RouteMetadata,
  Timestamp,
  text,
  Uuid,
} from './common.ts'
import { documentedAs } from './documented.ts'
import { RunErrorCode, withErrors } from './errors.ts'
import { Message, ToolCall } from './messages.ts'
import { RunSource, Usage } from './run-result.ts'

const c = initContract()

/** The state of the latest run of a conversation. */
export const RunState = z.enum(['queued', 'running', 'completed', 'error', 'stopped'])
export type RunState = z.infer<typeof RunState>

/** How a conversation came to be; `log` was recorded, not run. */
export const ConversationOrigin = z.enum(['run', 'background', 'log'])
export type ConversationOrigin = z.infer<typeof ConversationOrigin>

/**
 * A conversation: the messages of a run and of the chats that followed.
 *
 * @example
 * { "uuid": "c1d2…", "conversation": [{ "role": "user", "content": […] }], "status": "completed", … }
 */
export const Conversation = z
  .object({
    uuid: Uuid,
    conversation: z.array(Message).meta({ description: 'Empty while queued, growing while running.' }),
    source: RunSource,
    status: RunState,
    error: z.object({ errorCode: RunErrorCode, message: z.string() }).nullable(),
    toolRequests: z.array(ToolCall).meta({ description: 'Calls that wait for the caller.' }),
    projectId: Id,
    versionUuid: Uuid,
    documentUuid: Uuid,
    path: z.string(),
    contentHash: ContentHash.meta({ description: 'Of the prompt as it ran.' }),
    customIdentifier: z.string().nullable(),
    origin: ConversationOrigin,
    tokenUsage: Usage,
    cost: z.number().nonnegative().meta({ description: 'In USD.' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Conversation' })
export type Conversation = z.infer<typeof Conversation>

/**
 * A conversation as lists show it, without its messages.
 *
 * @example
 * { "uuid": "c1d2…", "path": "support/reply", "status": "completed", "cost": 0.0000072, … }
 */
export const ConversationSummary = Conversation.omit({ conversation: true }).meta({ id: 'ConversationSummary' })
export type ConversationSummary = z.infer<typeof ConversationSummary>

/**
 * A page of conversations.
 *
 * @example
 * { "items": [{ "uuid": "c1d2…", … }], "nextCursor": null }
 */
export const ConversationPage = z
  .object({
    items: z.array(ConversationSummary),
    nextCursor: z.string().nullable().meta({ description: 'Opaque; null: this was the last page.' }),
  })
  .meta({ id: 'ConversationPage' })
export type ConversationPage = z.infer<typeof ConversationPage>

const instant = z.iso.datetime({ offset: true }).meta({ pattern: undefined })
const pageSize = z.int().min(1).max(LIMITS.pageSize)

/** Which conversations to list; all that is given must hold. */
export const ListConversationsQuery = z
  .object({
    projectId: z.string().exactOptional(),
    versionUuid: z.string().exactOptional(),
    documentUuid: z.string().exactOptional(),
    path: z.string().exactOptional(),
    status: RunState.exactOptional(),
    origin: ConversationOrigin.exactOptional(),
    customIdentifier: z.string().exactOptional(),
    from: instant.exactOptional().meta({ description: 'Created at this instant or later.' }),
    to: instant.exactOptional().meta({ description: 'Created at this instant or earlier.' }),
    // The query of a URL is text.
    limit: documentedAs(
      z
        .string()
        .regex(/^\d{1,3}$/, { error: `must be 1 to ${LIMITS.pageSize}` })
        .transform(Number)
        .pipe(pageSize),
      pageSize,
    )
      .exactOptional()
      .meta({ description: 'Default: 25.' }),
    cursor: z.string().exactOptional().meta({ description: 'The `nextCursor` of the page before.' }),
  })
  .meta({ id: 'ListConversationsQuery' })
export type ListConversationsQuery = z.input<typeof ListConversationsQuery>

/** Whose conversations to delete. */
export const EraseConversationsQuery = z
  .object({
    customIdentifier: text({ min: 1, max: LIMITS.customIdentifierLength }),
    projectId: z.string().exactOptional().meta({ description: 'Only those of this project.' }),
  })
  .meta({ id: 'EraseConversationsQuery' })
export type EraseConversationsQuery = z.input<typeof EraseConversationsQuery>

/**
 * A conversation that was deleted.
 *
 * @example
 * { "uuid": "c1d2…" }
 */
export const DeletedConversation = z.object({ uuid: Uuid }).meta({ id: 'DeletedConversation' })
export type DeletedConversation = z.infer<typeof DeletedConversation>

/**
 * How many conversations of an identifier were deleted.
 *
 * @example
 * { "deleted": 12, "active": 1 } // stop the active one, then delete again
 */
export const ErasedConversations = z
  .object({
    deleted: z.int().nonnegative(),
    active: z.int().nonnegative().meta({ description: 'Left, because a run of theirs is active.' }),
  })
  .meta({ id: 'ErasedConversations' })
export type ErasedConversations = z.infer<typeof ErasedConversations>

export const conversations = c.router({
  list: {
    method: 'GET',
    path: '/conversations',
    summary: 'List conversations',
    description: 'The newest first, in pages that stay the same when new conversations come in.',
    query: ListConversationsQuery,
    responses: withErrors({ 200: ConversationPage }),
    metadata: {
      scope: 'read',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['unknown-project'],
    } as const satisfies RouteMetadata,
  },
  get: {
    method: 'GET',
    path: '/conversations/:conversationUuid',
    summary: 'Get a conversation',
    description: 'Readable from the moment its uuid is known.',
    pathParams: ConversationParams,
    responses: withErrors({ 200: orTap(Conversation) }),
    metadata: {
      scope: ['read', 'run'],
      rateLimited: true,
      idempotent: false,
      streams: false,
      showsMessages: true,
    } as const satisfies RouteMetadata,
  },
  erase: {
    method: 'DELETE',
    path: '/conversations',
    summary: 'Delete the conversations of a custom identifier',
    description:
      'Deletes every ended conversation with this `customIdentifier` for good. Those with an active run are left and counted.',
    query: EraseConversationsQuery,
    responses: withErrors({ 200: ErasedConversations }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['unknown-project'],
    } as const satisfies RouteMetadata,
  },
  delete: {
    method: 'DELETE',
    path: '/conversations/:conversationUuid',
    summary: 'Delete a conversation',
    description: 'Deletes its messages, runs, event logs, tool calls and annotations for good.',
    pathParams: ConversationParams,
    responses: withErrors({ 200: DeletedConversation }),
    metadata: {
      scope: 'write',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['conversation-busy'],
    } as const satisfies RouteMetadata,
  },
})
