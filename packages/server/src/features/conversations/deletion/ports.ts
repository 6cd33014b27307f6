/** Conversations are hidden first, which makes them unreadable. Their rows are purged later, in batches. */

/** Selects a custom identifier's conversations that were created up to `createdAt`. */
export interface ErasureRequest {
  workspaceId: number
  /** Null means every project. */
  projectId: number | null
  customIdentifier: string
  createdAt: Date
}

export interface RetainedProject {
  id: number
  days: number
}

export interface SweepPlace {
  createdAt: string
  uuid: string
}

export interface HiddenJudge {
  uuid: string
  workspaceId: number
}

/** Tables that refer to a conversation, in purge order. The table of conversations is last. */
export const conversationTables = [
  'tool_call',
  'annotation',
  'conversation_tag',
  'log_entry',
  'idempotency_record',
  'run',
  'conversation',
] as const
export type ConversationTable = (typeof conversationTables)[number]

/**
 * Tables with a project's other rows, in purge order. They are purged after the project's conversations. Authors come
 * last, because API keys, versions, releases, examples and
 * experiments refer to them.
 */
export const projectTables = [
  'idempotency_record',
  'run_figure',
  'evaluation',
  'example',
  'experiment_item',
  'experiment',
  'forced_edit',
  'release',
  'run_day',
  'document',
  'version',
  'api_key',
  'author',
] as const
export type ProjectTable = (typeof projectTables)[number]

/** Tables with a draft's rows, in purge order. */
export const draftTables = ['document', 'version'] as const
export type DraftTable = (typeof draftTables)[number]

export interface PurgedRows {
  count: number
  /** Run uuids and API key hashes whose cached data must be dropped. */
  keys: string[]
}

export interface DeletionStore {
  /** Hides a conversation. Returns false if the conversation is active, unknown or already hidden. */
  hideConversation(workspaceId: number, uuid: string): Promise<boolean>
  /** Hides one batch of ended conversations, except `active`. An empty batch leaves only active and locked ones. */
  hideErased(erasure: ErasureRequest, active: readonly string[]): Promise<string[]>
  /** Deletes the examples that were saved from hidden and from purged conversations, regardless of what deleted them. */
  forgetExamples(erasure: ErasureRequest): Promise<void>
  hideOfProject(projectId: number): Promise<string[]>
  /** Hides one batch of expired conversations, starting after `after`. Expiry uses the database clock. */
  hideExpired(project: RetainedProject, after: SweepPlace | undefined): Promise<SweepPlace[]>
  /** Lists the conversations that an erasure has not hidden, because their runs were active. */
  listLeft(erasure: ErasureRequest): Promise<string[]>

  beginErasure(erasure: ErasureRequest): Promise<number>
  endErasure(id: number): Promise<void>
  listErasures(): Promise<(ErasureRequest & { id: number })[]>

  /** @param serverDays applies to projects without their own value; 0 = keep forever. */
  listRetained(serverDays: number): Promise<RetainedProject[]>

  /**
   * Lists one batch of hidden conversations, the earliest hidden first, and hides the judges that have read their answers.
   * Leaves out those with an active or locked judge.
   */
  listHidden(): Promise<{ uuids: string[]; judges: HiddenJudge[] }>
  /** Purges one batch. A batch with fewer rows than `purgeBatch.largeRows` is the last one for that table. */
  purgeConversations(table: ConversationTable, uuids: readonly string[]): Promise<PurgedRows>
  listActiveRuns(projectId: number): Promise<{ workspaceId: number; runUuid: string }[]>
  hasConversations(projectId: number): Promise<boolean>
  purgeProject(table: ProjectTable, projectId: number): Promise<PurgedRows>
  /** Lists one batch of deleted drafts that can no longer be restored. */
  listExpiredDrafts(): Promise<number[]>
  purgeDrafts(table: DraftTable, ids: readonly number[]): Promise<PurgedRows>
  /** Removes a deleted project's row after a delay, once no conversation is left. Returns false until then. */
  removeProject(projectId: number): Promise<boolean>
}

/** Maximum rows per statement. Runs and conversations have large values, so their batches are smaller. */
export const purgeBatch = { rows: 500, largeRows: 100 } as const

export interface DeletionWork {
  /** Starts a purge. Called after every deletion. */
  wake(): void
  onWake(listener: () => void): void
  erasing: Set<number>
}

export interface DeletionDeps {
  /** Not part of `stores`, because this store commits its own batches. */
  store: DeletionStore
  work: DeletionWork
}
