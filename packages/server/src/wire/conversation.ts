import {
  type Conversation as ConversationBody,
  RunErrorCode,
  type ConversationSummary as SummaryBody,
} from '@stet/contract'
import type { Conversation, ConversationSummary } from '../features/conversations/conversation.ts'
import { shownMessages } from './legacy-clients.ts'

/** @param isDeclared true for a legacy client, whose strict models refuse some message parts. */
export function conversationBody(conversation: Conversation, isDeclared: boolean): ConversationBody {
  const { uuid, ...summary } = summaryBody(conversation)
  return { uuid, conversation: shownMessages(conversation.messages, isDeclared), ...summary }
}

export function summaryBody(conversation: ConversationSummary): SummaryBody {
  const { documentUuid, versionUuid } = conversation.source
  return {
    uuid: conversation.uuid,
    source: { documentUuid, commitUuid: versionUuid },
    status: conversation.status,
    error: errorBody(conversation.error),
    toolRequests: conversation.toolRequests,
    projectId: conversation.projectId,
    versionUuid,
    documentUuid,
    path: conversation.path,
    contentHash: conversation.contentHash,
    customIdentifier: conversation.customIdentifier,
    origin: conversation.origin,
    tokenUsage: conversation.tokenUsage,
    cost: conversation.cost,
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.updatedAt.toISOString(),
    endedAt: conversation.endedAt?.toISOString() ?? null,
  }
}

function errorBody(error: ConversationSummary['error']): SummaryBody['error'] {
  if (error === null) return null
  // Rows outlive releases, so an unknown code is shown as the general one.
  const { data: errorCode = 'unknown_error' } = RunErrorCode.safeParse(error.code)
  return { errorCode, message: error.message }
}
