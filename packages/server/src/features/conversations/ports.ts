/** The port for lists of conversations. Single ones are read with their runs. */
import type { ConversationOrigin } from '../runs/ports.ts'
import type { RunStatus } from '../runs/run.ts'
import type { StoredSummary } from './conversation.ts'

/** All given fields must match; instants are inclusive. */
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
  /** Deleted projects whose conversations are not purged yet. */
  hiddenProjects?: readonly number[]
}

/** A place in the list of conversations, newest first. */
export interface ConversationPlace {
  createdAt: Date
  uuid: string
}

export interface ConversationStore {
  /** Newest first, starting after the place. */
  list(
    workspaceId: number,
    filter: ConversationFilter,
    page: { after?: ConversationPlace; limit: number },
  ): Promise<StoredSummary[]>
}
