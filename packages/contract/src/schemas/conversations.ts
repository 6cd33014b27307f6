import { z } from 'zod'
import { ContentHash, ConversationParams, type Held, Id, LIMITS, orRaw, Timestamp, text, Uuid } from '../common.ts'
import { RunErrorCode, withErrors } from '../errors.ts'
import { pageSize } from '../query-values.ts'
import type * as vocabulary from '../vocabulary/index.ts'
import { CONVERSATION_ORIGINS, REQUEST_CHANNELS } from '../vocabulary/run-state.ts'
import { Message, ToolCall } from './messages.ts'
import { RunSource, RunState, Usage } from './runs.ts'

export const ConversationOrigin = z.enum(CONVERSATION_ORIGINS)
export type ConversationOrigin = Held<z.infer<typeof ConversationOrigin>, vocabulary.ConversationOrigin>

export const RequestChannel = z.enum(REQUEST_CHANNELS)
export type RequestChannel = Held<z.infer<typeof RequestChannel>, vocabulary.RequestChannel>

export const Conversation = z
  .object({
    uuid: Uuid,
    conversation: z.array(Message).meta({ description: 'Empty while the run is queued. Grows while it runs.' }),
    source: RunSource,
    status: RunState,
    error: z.object({ errorCode: RunErrorCode, message: z.string() }).nullable(),
    toolRequests: z.array(ToolCall).meta({ description: 'Tool calls that wait for the caller.' }),
    projectId: Id,
    versionUuid: Uuid,
    documentUuid: Uuid,
    path: z.string(),
    contentHash: ContentHash.meta({ description: 'The hash of the prompt that ran.' }),
    customIdentifier: z.string().nullable(),
    origin: ConversationOrigin,
    via: RequestChannel.meta({ description: '`console` if a session of the console started the conversation.' }),
    tokenUsage: Usage,
    cost: z.number().nonnegative().meta({ description: 'In USD.' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Conversation' })
export type Conversation = Held<z.infer<typeof Conversation>, vocabulary.Conversation>

export const ConversationSummary = Conversation.omit({ conversation: true }).meta({ id: 'ConversationSummary' })
export type ConversationSummary = Held<z.infer<typeof ConversationSummary>, vocabulary.ConversationSummary>

export const ConversationPage = z
  .object({
    items: z.array(ConversationSummary),
    nextCursor: z.string().nullable().meta({ description: 'Opaque; `null` on the last page.' }),
  })
  .meta({ id: 'ConversationPage' })
export type ConversationPage = Held<z.infer<typeof ConversationPage>, vocabulary.ConversationPage>

const instant = z.iso.datetime({ offset: true }).meta({ pattern: undefined })

export const ListConversationsQuery = z
  .object({
    projectId: z.string().exactOptional(),
    versionUuid: z.string().exactOptional(),
    documentUuid: z.string().exactOptional(),
    path: z.string().exactOptional(),
    status: RunState.exactOptional(),
    origin: ConversationOrigin.exactOptional(),
    customIdentifier: z.string().exactOptional(),
    from: instant.exactOptional().meta({ description: 'Only conversations created at this instant or later.' }),
    to: instant.exactOptional().meta({ description: 'Only conversations created at this instant or earlier.' }),
    limit: pageSize.exactOptional().meta({ description: 'Default: 25.' }),
    cursor: z.string().exactOptional().meta({ description: 'The `nextCursor` of the previous page.' }),
  })
  .meta({ id: 'ListConversationsQuery' })
export type ListConversationsQuery = Held<z.input<typeof ListConversationsQuery>, vocabulary.ListConversationsQuery>

export const EraseConversationsQuery = z
  .object({
    customIdentifier: text({ min: 1, max: LIMITS.customIdentifierLength }),
    projectId: z.string().exactOptional().meta({ description: 'Only conversations of this project.' }),
  })
  .meta({ id: 'EraseConversationsQuery' })
export type EraseConversationsQuery = Held<z.input<typeof EraseConversationsQuery>, vocabulary.EraseConversationsQuery>

export const DeletedConversation = z.object({ uuid: Uuid }).meta({ id: 'DeletedConversation' })
export type DeletedConversation = Held<z.infer<typeof DeletedConversation>, vocabulary.DeletedConversation>

export const ErasedConversations = z
  .object({
    deleted: z.int().nonnegative(),
    active: z
      .int()
      .nonnegative()
      .meta({ description: 'The number of conversations not deleted, because a run of theirs is active.' }),
  })
  .meta({ id: 'ErasedConversations' })
export type ErasedConversations = Held<z.infer<typeof ErasedConversations>, vocabulary.ErasedConversations>

export const conversationRoutes = {
  list: {
    summary: 'List conversations',
    description: 'Newest first. New conversations do not shift the pages.',
    query: ListConversationsQuery,
    responses: withErrors({ 200: ConversationPage }),
  },
  get: {
    summary: 'Get a conversation',
    description: 'You can read a conversation as soon as you have its uuid.',
    pathParams: ConversationParams,
    responses: withErrors({ 200: orRaw(Conversation) }),
  },
  erase: {
    summary: 'Delete the conversations of a custom identifier',
    description:
      'Permanently deletes every ended conversation with this `customIdentifier`. Counts those with an active run, and leaves them.',
    query: EraseConversationsQuery,
    responses: withErrors({ 200: ErasedConversations }),
  },
  delete: {
    summary: 'Delete a conversation',
    description: 'Permanently deletes its messages, runs, event logs, tool calls and annotations.',
    pathParams: ConversationParams,
    responses: withErrors({ 200: DeletedConversation }),
  },
}
