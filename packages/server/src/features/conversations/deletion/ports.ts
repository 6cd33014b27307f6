/**
 * Ports of deletion. Conversations are hidden first, so that no reader finds them. Their rows are purged later, in batches. A
 * batch has at most 500 rows.
 */

/** All conversations of a custom identifier that were created up to an instant. */
export interface ErasureRequest {
  workspaceId: number
  /** Null: in every project. */
  projectId: number | null
  customIdentifier: string
  createdAt: Date
}

export interface Erasure extends ErasureRequest {
  id: number
}

/** A project whose ended conversations are deleted after some days. */
export interface RetainedProject {
  id: number
  days: number
}

/** The position of a sweep through the conversations of a project, oldest first. */
export interface SweepPlace {
  createdAt: string
  uuid: string
}

/** Tables below a conversation in the order in which their rows go, and the conversation itself. */
export const conversationTables = [
  'tool_call',
  'annotation',
  'log_entry',
  'idempotency_record',
  'run',
  'conversation',
] as const
export type ConversationTable = (typeof conversationTables)[number]

/** The same below a project, once its conversations are deleted. */
export const projectTables = [
  'idempotency_record',
  'evaluation',
  'forced_edit',
  'document',
  'version',
  'api_key',
  'author',
] as const
export type ProjectTable = (typeof projectTables)[number]

export interface PurgedRows {
  count: number
  /** Uuids of runs and hashes of API keys, whose cached data must also be dropped. */
  keys: string[]
}

export interface DeletionStore {
  /** False if the conversation is active, unknown or already hidden. */
  hideConversation(workspaceId: number, uuid: string): Promise<boolean>
  /** Hides one batch of ended conversations; none are left when it is empty. @param active not to be touched. */
  hideErased(erasure: ErasureRequest, active: readonly string[]): Promise<string[]>
  hideOfProject(projectId: number): Promise<string[]>
  /** Hides one batch of conversations that ended too long ago on the database's clock, starting after the place. */
  hideExpired(project: RetainedProject, after: SweepPlace | undefined): Promise<SweepPlace[]>
  /** The conversations that an erasure skipped, because they have an active run. */
  listLeft(erasure: ErasureRequest): Promise<string[]>

  beginErasure(erasure: ErasureRequest): Promise<number>
  endErasure(id: number): Promise<void>
  listErasures(): Promise<Erasure[]>

  /** @param serverDays for projects without a value of their own; 0 = keep. */
  listRetained(serverDays: number): Promise<RetainedProject[]>

  /** Some hidden conversations, the first hidden first. */
  listHidden(): Promise<string[]>
  /** Purges one batch. If it deletes fewer rows than `purgeBatch`, none are left in the table. */
  purgeConversations(table: ConversationTable, uuids: readonly string[]): Promise<PurgedRows>
  /** Active runs of a deleted project. */
  listActiveRuns(projectId: number): Promise<string[]>
  hasConversations(projectId: number): Promise<boolean>
  purgeProject(table: ProjectTable, projectId: number): Promise<PurgedRows>
  /** Removes the row of a project that was deleted long enough ago; false while it must stay. */
  removeProject(projectId: number): Promise<boolean>
}

/** The rows of one statement. Runs and conversations have large values, so fewer are deleted at once. */
export const purgeBatch = { rows: 500, largeRows: 100 } as const

export interface DeletionWork {
  /** Something was hidden. */
  wake(): void
  onWake(hear: () => void): void
  /** Ids of erasures that a request works on. */
  erasing: Set<number>
}

export interface DeletionDeps {
  /** Outside `stores`: it works in batches of its own. */
  store: DeletionStore
  work: DeletionWork
}
