import type { StoredConversation, StoredRun, StoredRunResult } from '../runs/ports.ts'

export type StoredSummary = Omit<StoredConversation, 'messages' | 'config' | 'epoch' | 'lastEventId' | 'latestRun'> & {
  latestRun: (Pick<StoredRun, 'endedAt'> & { result: Omit<StoredRunResult, 'response' | 'costUnknown'> | null }) | null
}

type FilteredText = 'versionUuid' | 'documentUuid' | 'path' | 'status' | 'origin'

/** All given fields must match. `from` and `to` are inclusive. `hiddenProjects` are excluded. */
export interface ConversationFilter extends Partial<Pick<StoredConversation, 'projectId' | FilteredText>> {
  customIdentifier?: string
  from?: Date
  to?: Date
  hiddenProjects?: readonly number[]
}

export type ConversationPlace = Pick<StoredSummary, 'createdAt' | 'uuid'>

export interface ConversationStore {
  /** Newest first, starting after `page.after`. */
  list(
    workspaceId: number,
    filter: ConversationFilter,
    page: { after?: ConversationPlace; limit: number },
  ): Promise<StoredSummary[]>
}
