import { RunErrorCode } from '@stet/contract'
import type {
  Conversation as ConversationBody,
  ConversationNote,
  LabeledConversation as LabeledBody,
  LogEntry,
  ConversationSummary as SummaryBody,
  TagUse as TagUseBody,
} from '@stet/contract/vocabulary'
import type { LabeledConversation } from '../features/conversations/label-conversation.ts'
import type { Note, StoredSummary, TagUse } from '../features/conversations/ports.ts'
import type { ExternalLog } from '../features/external-logs/external-log.ts'
import { usageOf } from '../features/providers/usage.ts'
import type { StoredConversation, StoredRunResult } from '../features/runs/ports.ts'
import { personBody } from './api-key.ts'

export function noteBody(note: Note | null): ConversationNote | null {
  return note && { text: note.text, author: note.author && personBody(note.author), at: note.at.toISOString() }
}

export function labeledBody({ uuid, tags, note }: LabeledConversation): LabeledBody {
  return { uuid, tags, note: noteBody(note) }
}

export function conversationBody(conversation: StoredConversation): ConversationBody {
  const { uuid, ...summary } = summaryBody(conversation)
  return { uuid, conversation: conversation.messages, ...summary }
}

/** Usage and cost are those of the latest run. Both are zero without a run, and while the run is active. */
export function summaryBody(conversation: StoredSummary): SummaryBody {
  const { documentUuid, versionUuid, latestRun } = conversation
  const { error, toolRequests = [], tokenUsage = usageOf({}), cost = 0 } = latestRun?.result ?? {}
  // An external log has no run. Its creation time counts as its end.
  const endedAt = latestRun ? latestRun.endedAt : conversation.createdAt
  return {
    uuid: conversation.uuid,
    source: { documentUuid, commitUuid: versionUuid },
    status: conversation.status,
    error: error ? errorBody(error) : null,
    toolRequests,
    projectId: conversation.projectId,
    versionUuid,
    documentUuid,
    path: conversation.path,
    contentHash: conversation.contentHash,
    customIdentifier: conversation.customIdentifier,
    origin: conversation.origin,
    via: conversation.via,
    tokenUsage,
    cost,
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.updatedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  }
}

function errorBody(error: NonNullable<StoredRunResult['error']>): SummaryBody['error'] {
  // Another release may have stored a code that is unknown here. This code is shown as `unknown_error`.
  const { data: errorCode = 'unknown_error' } = RunErrorCode.safeParse(error.code)
  return { errorCode, message: error.message }
}

export function externalLogBody(log: ExternalLog): LogEntry {
  const { conversation } = log
  return {
    id: log.id,
    uuid: conversation.uuid,
    documentUuid: conversation.documentUuid,
    commitId: log.versionId,
    resolvedContent: log.resolvedContent,
    contentHash: conversation.contentHash,
    parameters: log.parameters,
    customIdentifier: conversation.customIdentifier,
    duration: log.durationMs,
    source: 'api',
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.createdAt.toISOString(),
    promptSpan: { id: log.promptSpan.id, traceId: log.promptSpan.traceId },
    completionSpan: { id: log.completionSpan.id, traceId: log.completionSpan.traceId },
  }
}

export function tagUseBody({ tag, conversations, lastAt }: TagUse): TagUseBody {
  return { tag, conversations, lastAt: lastAt.toISOString() }
}
