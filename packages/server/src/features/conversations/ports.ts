/** What reading many conversations needs from storage; single ones are read with their runs. */
import type { ConversationOrigin } from '../runs/ports.ts'
import type { RunStatus } from '../runs/run.ts'
import type { StoredSummary } from './conversation.ts'

/** All that is given must hold; instants include themselves. */
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
  /** Projects that are deleted, with conversations left that are not purged yet. */
  hiddenProjects?: readonly number[]
}

/** A place in the order of conversations, newest first: everything after it is older. */
export interface ConversationPlace {
  createdAt: Date
  uuid: string
}

export interface ConversationStore {
  /** Newest first, from after the place. */
  list(
    workspaceId: number,
    filter: ConversationFilter,
    page: { after?: ConversationPlace; limit: number },
  ): Promise<StoredSummary[]>
}
