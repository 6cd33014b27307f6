import type { RunErrorCode } from '@stet/contract/vocabulary'
import { type Usage, usageOf } from '../providers/usage.ts'
import type { ConversationOrigin, StoredConversation, StoredRun, StoredRunResult } from '../runs/ports.ts'
import type { RunSource, RunStatus } from '../runs/run.ts'
import type { Message, ToolCall } from '../templates/message.ts'

export interface ConversationSummary {
  uuid: string
  projectId: number
  source: RunSource
  path: string
  contentHash: string
  customIdentifier: string | null
  origin: ConversationOrigin
  status: RunStatus
  error: { code: RunErrorCode; message: string } | null
  toolRequests: ToolCall[]
  /** Usage and cost of the latest run; zero while it is active. */
  tokenUsage: Usage
  cost: number
  createdAt: Date
  updatedAt: Date
  endedAt: Date | null
}

export interface Conversation extends ConversationSummary {
  messages: Message[]
}

export type StoredSummary = Omit<StoredConversation, 'messages' | 'config' | 'epoch' | 'lastEventId' | 'latestRun'> & {
  latestRun: (Pick<StoredRun, 'endedAt'> & { result: Omit<StoredRunResult, 'response' | 'costUnknown'> | null }) | null
}

export function toConversation(stored: StoredConversation): Conversation {
  return { ...toSummary(stored), messages: stored.messages }
}

export function toSummary(stored: StoredSummary): ConversationSummary {
  const { latestRun } = stored
  const result = latestRun?.result
  return {
    uuid: stored.uuid,
    projectId: stored.projectId,
    source: { documentUuid: stored.documentUuid, versionUuid: stored.versionUuid },
    path: stored.path,
    contentHash: stored.contentHash,
    customIdentifier: stored.customIdentifier,
    origin: stored.origin,
    status: stored.status,
    error: result?.error ? { code: result.error.code, message: result.error.message } : null,
    toolRequests: result?.toolRequests ?? [],
    tokenUsage: result?.tokenUsage ?? usageOf({}),
    cost: result?.cost ?? 0,
    createdAt: stored.createdAt,
    updatedAt: stored.updatedAt,
    // An external log is recorded after its end.
    endedAt: latestRun ? latestRun.endedAt : stored.createdAt,
  }
}
