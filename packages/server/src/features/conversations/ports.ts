import type { ParametersState, RequestChannel, RunMode, RunSpan } from '@stet/contract/vocabulary'
import type { Author } from '../../shared/caller.ts'
import type { StoredConversation, StoredRun, StoredRunResult } from '../runs/ports.ts'
import type { RunStatus } from '../runs/run.ts'

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

/** The facts of a run. Its figures are null until it has ended. */
export interface RecordedRun extends Pick<StoredConversation, 'path' | 'customIdentifier'> {
  uuid: string
  conversationUuid: string
  projectId: number
  documentUuid: string
  versionUuid: string
  status: RunStatus
  errorCode: string | null
  errorMessage: string | null
  mode: RunMode
  via: RequestChannel
  author: Author | null
  apiKey: { id: number; name: string } | null
  provider: string | null
  model: string | null
  finishReason: string | null
  createdAt: Date
  startedAt: Date | null
  endedAt: Date | null
  firstTokenMs: number | null
  inputTokens: number | null
  outputTokens: number | null
  cachedTokens: number | null
  usageEstimated: boolean
  /** In US dollars. Null if a model call has no price. */
  cost: number | null
  parametersState: ParametersState
  firstEventId: number
  lastEventId: number | null
  eventsKept: boolean
  givenFrom: number | null
  givenCount: number | null
}

export interface RunDetails extends RecordedRun {
  parameters: Record<string, unknown> | null
  spans: RunSpan[]
  spansCut: boolean
  /** The run's messages in the conversation: `[from, to)`. Null until the run has ended. */
  messageRange: number[] | null
}

/** All given fields must match. `from` and `to` are inclusive. */
export interface RunFilter {
  documentUuid?: string
  versionUuid?: string
  path?: string
  status?: readonly RunStatus[]
  model?: string
  via?: RequestChannel
  authorId?: number
  customIdentifier?: string
  minCost?: number
  minDurationMs?: number
  from?: Date
  to?: Date
  /** The uuid of the run or of its conversation. */
  uuid?: { first: string; last: string }
}

/** The most runs that a search reads. Filters without an index apply to these. */
export const runScan = 5_000

export interface RunRecordStore {
  /** Returns the places of matching runs among the `runScan` newest ones from after `page.after` to `page.until`, newest first. */
  search(
    projectId: number,
    filter: RunFilter,
    page: { after?: ConversationPlace; until?: ConversationPlace; limit: number },
  ): Promise<ConversationPlace[]>
  /** Whether the prompt belongs to the project. The index of a prompt's runs has those of all projects. */
  hasPrompt(projectId: number, documentUuid: string): Promise<boolean>
  /** Returns the last run that a search reads. Null if the search reads all runs. */
  findBound(projectId: number, filter: RunFilter, after?: ConversationPlace): Promise<ConversationPlace | null>
  /** In the given order, without unknown runs. */
  list(uuids: readonly string[]): Promise<RecordedRun[]>
  /** Oldest first. */
  listOf(conversationUuid: string): Promise<RecordedRun[]>
  /** @param uuid of a run, or of a conversation for its latest run. */
  findOptional(workspaceId: number, uuid: string): Promise<RunDetails | null>
}
