/** What tool calls need from outside: rows that outlive the run, and a wake-up for the process that waits. */

export type ToolCallState = 'waiting' | 'answered' | 'closed'

export interface NewToolCall {
  /** Unique over the server. */
  id: string
  workspaceId: number
  projectId: number
  runUuid: string
  /** The run waits for the caller's result; otherwise none is ever taken. */
  isWaiting: boolean
  createdAt: Date
}

/** What the caller of a run answered. */
export interface ToolAnswer {
  result: unknown
  isError: boolean
}

export interface GivenAnswer extends ToolAnswer {
  id: string
  workspaceId: number
  answeredAt: Date
}

/** Every write resolves after its commit. */
export interface ToolCallStore {
  issue(calls: readonly NewToolCall[]): Promise<void>
  /** By compare-and-set: false when the call is unknown, answered or closed, or its run has ended. */
  answer(answer: GivenAnswer): Promise<boolean>
  /** By compare-and-set: false when an answer came before. No later one is taken. */
  close(call: { id: string; workspaceId: number }): Promise<boolean>
  findAnswer(workspaceId: number, id: string): Promise<ToolAnswer | null>
  /** The project of a call that some run of the workspace issued. */
  findProject(workspaceId: number, id: string): Promise<number | null>
  /**
   * Drops the answers to calls of runs that ended in `[from, before)`, some at a time; returns how many. That a call was
   * issued stays known: a late answer is told from one to an unknown call.
   */
  dropAnswers(from: Date, before: Date): Promise<number>
}

/** Tells whoever waits for a call that its answer is stored. A lost wake-up costs a few seconds, never the answer. */
export interface ToolSignals {
  notify(callId: string): void
  /** @returns ends the subscription. */
  subscribe(callId: string, wake: () => void): () => void
}
