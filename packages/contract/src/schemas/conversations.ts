import { z } from 'zod'
import { ContentHash, ConversationParams, Id, orRaw, Timestamp, text, Uuid } from '../common.ts'
import { RunErrorCode, withErrors } from '../errors.ts'
import { instant, pageSize } from '../query-values.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { Message, ToolCall } from './messages.ts'
import { RunSource, RunState, Usage } from './runs.ts'

export const ConversationOrigin = z
  .enum(['run', 'background', 'log'])
  .meta({ description: 'How a conversation started. A `log` is an external log: stet did not run it.' })

export const RequestChannel = z.enum(['api', 'console', 'experiment', 'judge']).meta({
  description:
    'The kind of sender: `console` for a session of the console, `api` for an API key, `experiment` for an item of an ' +
    'experiment, `judge` for a run that judges an answer.',
})

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
  .meta({
    id: 'Conversation',
    description: 'A conversation: the messages of a run and of the chats that followed.',
    example: 'const last = conversation.conversation.at(-1)',
  })

export const ConversationSummary = Conversation.omit({ conversation: true }).meta({
  id: 'ConversationSummary',
  example: "const failed = items.filter(({ status }) => status === 'error')",
})

export const ConversationPage = z
  .object({
    items: z.array(ConversationSummary),
    nextCursor: z.string().nullable().meta({ description: 'Opaque; `null` on the last page.' }),
  })
  .meta({ id: 'ConversationPage', example: 'const isLastPage = page.nextCursor === null' })

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
  .meta({
    id: 'ListConversationsQuery',
    description: 'Filters conversations. A conversation must match every given field.',
    example: "{ status: 'error', from: '2026-01-01T00:00:00Z' }",
  })

export const EraseConversationsQuery = z
  .object({
    customIdentifier: text({ min: 1, max: LIMITS.customIdentifierLength }),
    projectId: z.string().exactOptional().meta({ description: 'Only conversations of this project.' }),
  })
  .meta({ id: 'EraseConversationsQuery', example: "{ customIdentifier: 'customer-7' }" })

export const DeletedConversation = z.object({ uuid: Uuid }).meta({ id: 'DeletedConversation' })

export const ErasedConversations = z
  .object({
    deleted: z.int().nonnegative(),
    active: z
      .int()
      .nonnegative()
      .meta({ description: 'The number of conversations not deleted, because a run of theirs is active.' }),
  })
  .meta({ id: 'ErasedConversations', example: '{ deleted: 12, active: 1 } // stop the active one, then delete again' })

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
