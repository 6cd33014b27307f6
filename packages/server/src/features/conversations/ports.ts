import type { ConversationOrigin, StoredConversation, StoredRun, StoredRunResult } from '../runs/ports.ts'
import type { RunStatus } from '../runs/run.ts'

export type StoredSummary = Omit<StoredConversation, 'messages' | 'config' | 'epoch' | 'lastEventId' | 'latestRun'> & {
  latestRun: (Pick<StoredRun, 'endedAt'> & { result: Omit<StoredRunResult, 'response' | 'costUnknown'> | null }) | null
}

/** All given fields must match. `from` and `to` are inclusive. `hiddenProjects` are excluded. */
export interface ConversationFilter {
  projectId?: number
  versionUuid?: string
  documentUuid?: string
  path?: string
  status?: RunStatus
  origin?: ConversationOrigin
  customIdentifier?: string
  from?: Date
  to?: Date
  hiddenProjects?: readonly number[]
}

export interface ConversationPlace {
  createdAt: Date
  uuid: string
}

export interface ConversationStore {
  /** Newest first, starting after `page.after`. */
  list(
    workspaceId: number,
    filter: ConversationFilter,
    page: { after?: ConversationPlace; limit: number },
  ): Promise<StoredSummary[]>
}
