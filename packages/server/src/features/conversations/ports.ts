import type {
  FeedbackValue,
  Message,
  ParametersState,
  RequestChannel,
  RunMode,
  RunOverrides,
  RunSpan,
  StatsVia,
} from '@stet/contract/vocabulary'
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
  overrides: RunOverrides | null
  /** The tags of the conversation in alphabetical order, without those of feedback. */
  tags: string[]
  feedback: FeedbackValue | null
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
  note: Note | null
}

/** `messages` are the run's own ones in the conversation: none until it has ended. */
export interface RunWithContent extends RecordedRun {
  parameters: Record<string, unknown> | null
  messages: Message[]
}

export interface Note {
  text: string
  author: Author | null
  at: Date
}

export interface Labels {
  /** In alphabetical order, without those of feedback. */
  tags: string[]
  note: Note | null
}

/** The most tags, with those of feedback, that a list of them reads. */
export const tagScan = 20_000

export interface TagUse {
  tag: string
  conversations: number
  lastAt: Date
}

/** Facts of a conversation that never change. */
export type ConversationFacts = Pick<
  StoredConversation,
  'uuid' | 'workspaceId' | 'projectId' | 'documentUuid' | 'versionUuid' | 'createdAt'
>

export interface LabelStore {
  /** Null for an unknown or deleted conversation. */
  findConversation(workspaceId: number, conversationUuid: string): Promise<ConversationFacts | null>
  /** Locks the row, so that two writers of its labels take turns. Returns false for a deleted conversation. */
  lock(workspaceId: number, conversationUuid: string): Promise<boolean>
  find(conversationUuid: string): Promise<Labels>
  changeTags(
    conversation: ConversationFacts,
    change: { added: readonly string[]; removed: readonly string[]; authorId: number },
  ): Promise<void>
  /** Null removes the note. */
  saveNote(conversationUuid: string, note: { text: string; authorId: number; at: Date } | null): Promise<void>
  replaceFeedback(conversation: ConversationFacts, value: FeedbackValue, authorId: number): Promise<void>
  /** The tags of conversations that started at `since` or later, the most frequent first. Reads the newest `tagScan`. */
  listUses(projectId: number, since: Date, limit: number): Promise<TagUse[]>
}

/** All given fields must match. `from` and `to` are inclusive. */
export interface RunFilter {
  documentUuid?: string
  versionUuid?: string
  path?: string
  status?: readonly RunStatus[]
  model?: string
  /** Without it, runs of experiments and judges are left out. */
  via?: StatsVia
  authorId?: number
  customIdentifier?: string
  tag?: string
  feedback?: FeedbackValue
  minCost?: number
  minDurationMs?: number
  from?: Date
  to?: Date
  /** The uuid of the run or of its conversation. */
  uuid?: { first: string; last: string }
}

/** A run in the order of a list. With a tag, the start of its conversation comes first. */
export interface RunPlace extends ConversationPlace {
  conversation?: ConversationPlace
}

/** The time that a list is ordered by. */
export function startOf({ createdAt, conversation }: RunPlace): Date {
  return conversation?.createdAt ?? createdAt
}

/** The most runs that a search reads. Filters without an index apply to these. */
export const runScan = 5_000

interface RunPageBounds {
  after?: RunPlace
  limit: number
}

export interface RunRecordStore {
  /**
   * Returns the places of matching runs among the `runScan` newest ones after `page.after`, newest first, and the last run
   * that it reads. That one is null if it reads all runs, or finds `page.limit` first.
   */
  search(
    projectId: number,
    filter: RunFilter,
    page: RunPageBounds,
  ): Promise<{ places: RunPlace[]; bound: RunPlace | null }>
  /** Whether the prompt belongs to the project. The index of a prompt's runs has those of all projects. */
  hasPrompt(projectId: number, documentUuid: string): Promise<boolean>
  /** In the given order, without unknown runs. */
  list(uuids: readonly string[]): Promise<RecordedRun[]>
  /** Reads one run after another, because a conversation may be large. */
  withContent(runs: readonly RecordedRun[]): AsyncIterable<RunWithContent>
  /** Oldest first. */
  listOf(conversationUuid: string): Promise<RecordedRun[]>
  /** @param uuid of a run, or of a conversation for its latest run. */
  findOptional(workspaceId: number, uuid: string): Promise<RunDetails | null>
}
