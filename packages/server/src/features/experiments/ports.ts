import type { ExperimentReason, ExperimentState } from '@stet/contract/vocabulary'
import type { Author } from '../../shared/caller.ts'
import type { Wakeable } from '../../shared/clock.ts'
import type { Experiment, ExperimentItem, ExperimentTexts, ItemCode, ItemOutcome } from './experiment.ts'
import type { RowInputs } from './rows/fingerprint.ts'

/** The score of an item that counts: a person's newest one, otherwise the newest automatic one. */
export interface VerdictScore {
  /** Absent if unscored. */
  hasPassed?: boolean
  by: 'person' | 'auto'
  /** Why it is unscored. */
  code?: string
  /** Of a person's score. A gate may leave out the labels of some people. */
  author?: Author
  /** The automatic score that a person's score replaces, if there is one. */
  auto?: Pick<VerdictScore, 'hasPassed' | 'code'>
}

export interface VerdictRow {
  exampleUuid: string
  name: string
  tags: string[]
}

export interface VerdictItem {
  uuid: string
  arm: number
  exampleUuid: string
  outcome: ItemOutcome
  /** The error code of a failed run. */
  code?: string
  /** Of the error. */
  details?: Record<string, unknown>
  /** Absent if unknown. */
  costUsd?: number
  durationMs?: number
  /** By the uuid of the evaluation. */
  scores: Record<string, VerdictScore>
}

/** What a report is computed from. */
export interface Verdicts {
  /** The number of arms. The first one is the baseline. */
  arms: number
  /** In the order of the experiment. */
  rows: VerdictRow[]
  items: VerdictItem[]
}

/** The state of an experiment, counted from its items and their runs. */
export interface Progress {
  total: number
  /** Items that have not started, and those that wait for their second attempt. */
  waiting: number
  /** Of `waiting`: failed for a passing reason, and to be repeated. */
  retrying: number
  running: number
  ended: number
  failed: number
  /** Of all attempts, and of the judges. */
  costUsd: number
}

export const noProgress: Progress = { total: 0, waiting: 0, retrying: 0, running: 0, ended: 0, failed: 0, costUsd: 0 }

export interface NewExperiment extends Experiment {
  texts: ExperimentTexts
  contentKey: string
}

/** An item with its run and the row as it is now. */
export interface ShownItem extends Pick<ExperimentItem, 'uuid' | 'arm' | 'exampleUuid' | 'trial' | 'attempt'> {
  conversationUuid: string | null
  state: Exclude<ItemOutcome, 'row-changed'>
  code: string | null
  /** Cut to one character more than may be shown. */
  answer: string | null
  /** The retention has dropped the answer, maybe before the experiment was resumed. */
  isDropped: boolean
  costUsd: number | null
  durationMs: number | null
  scores: VerdictItem['scores']
  reasons: Record<string, string>
}

export interface ShownRow {
  exampleUuid: string
  name: string
  position: number
  tags: string[]
  /** Null if the row was deleted. */
  parameters: Record<string, unknown> | null
  expected: unknown
  hasChanged: boolean
  items: ShownItem[]
}

/** Change of an item that gets another attempt. */
export interface NextAttempt {
  uuid: string
  attempt: number
  /** The conversation of the next attempt. */
  conversationUuid: string
  isRetry: boolean
  /** The row as it is now. Absent if it is the same. */
  row?: Pick<ExperimentItem, 'rowHash' | 'rowName'>
}

export interface ExperimentFilter {
  documentUuid?: string
  /** The uuid of the last experiment of the previous page. */
  after?: string
  limit: number
}

export interface RescoredRows {
  exampleUuids: readonly string[]
  /** Judges read what is expected, but no checks. */
  sources: readonly ('rule' | 'judge')[]
}

export interface ExperimentStore {
  /** Newest first. */
  list(workspaceId: number, projectId: number, filter: ExperimentFilter): Promise<Experiment[]>
  findOptional(workspaceId: number, uuid: string): Promise<Experiment | null>
  findTexts(workspaceId: number, uuid: string): Promise<ExperimentTexts>
  /** Returns false if one with the same arms and rows is running. */
  create(workspaceId: number, experiment: NewExperiment, items: readonly ExperimentItem[]): Promise<boolean>
  /** The uuid of the running experiment of the prompt with the same arms and rows. */
  findRunning(
    workspaceId: number,
    experiment: Pick<NewExperiment, 'projectId' | 'documentUuid' | 'contentKey'>,
  ): Promise<string | null>
  /** Waits for concurrent transactions that count, so that each counts those of the others. */
  countRunning(workspaceId: number): Promise<number>
  addItems(workspaceId: number, experimentUuid: string, items: readonly ExperimentItem[]): Promise<void>
  nextAttempts(workspaceId: number, experimentUuid: string, attempts: readonly NextAttempt[]): Promise<void>
  /** Changes the state only if it is still `from`. */
  setState(workspaceId: number, uuid: string, change: StateChange): Promise<boolean>
  /** Returns the number of stored scores: those of items whose conversation exists. */
  addScores(workspaceId: number, experimentUuid: string, scores: NewScores): Promise<number>
  /**
   * Drops the automatic scores of all answers for these rows, because they belong to other checks. The newest experiment of
   * each row, if it has completed, runs until it is scored again. Older ones stay without these scores until they are
   * resumed.
   */
  rescore(workspaceId: number, projectId: number, rows: RescoredRows): Promise<void>
  addEvaluations(workspaceId: number, uuid: string, evaluationUuids: readonly string[]): Promise<void>
  listItems(workspaceId: number, experimentUuid: string): Promise<ExperimentItem[]>
  progress(workspaceId: number, experimentUuids: readonly string[]): Promise<Map<string, Progress>>
  /** The mean cost of the last 20 priced runs of the prompt with each model, in USD. */
  meanCosts(workspaceId: number, documentUuid: string, models: readonly string[]): Promise<Map<string, number>>
  verdicts(workspaceId: number, experimentUuid: string): Promise<Verdicts>
  /** The rows at the given positions, in their order. */
  listRows(workspaceId: number, experimentUuid: string, positions: readonly number[]): Promise<ShownRow[]>
  /**
   * The positions of all rows, and in which of them an answer of the arm differs from the baseline's. Null compares no
   * answers, which takes long.
   */
  listPositions(
    workspaceId: number,
    experimentUuid: string,
    arm: number | null,
  ): Promise<{ exampleUuid: string; rowHash: string; position: number; differs: boolean }[]>
}

/** A score of the team's own code. */
export interface CodeScore {
  uuid: string
  itemUuid: string
  evaluationUuid: string
  /** Null if unscored. */
  hasPassed: boolean | null
  code: string | null
  metadata: Record<string, unknown>
}

export interface NewScores {
  rows: readonly CodeScore[]
  authorId: number
  createdAt: Date
}

export interface StateChange {
  from: readonly ExperimentState[]
  state: ExperimentState
  reason: ExperimentReason | null
  isStale?: boolean
  finishedAt: Date | null
  /** Set if it gets new answers, to which the retention applies again. */
  droppedAt?: null
  apiKeyId?: number
  budgetUsd?: number
  contentKey?: string
}

/** An experiment as the loop needs it. */
export interface RunningExperiment
  extends Pick<Experiment, 'uuid' | 'workspaceId' | 'projectId' | 'documentUuid' | 'path' | 'arms' | 'evaluationUuids'>,
    Pick<Experiment, 'judges' | 'concurrency' | 'budgetUsd' | 'apiKeyId'> {
  authorId: number
  /** Items whose runs are queued or running. */
  active: number
  /** Changes with each write of it, and with each edit of its rows that drops scores. */
  revision: string
  /** True if its API key was revoked or has expired. */
  isKeyGone: boolean
}

/** An item that may start now, with its row. */
export interface WaitingItem extends ExperimentItem {
  /** True if its run was stored by a process that died before it noted the start. */
  hasRun: boolean
  /** Null if the row was deleted. */
  row: RowInputs | null
  /** Of the conversation that the row was saved from, so that an erasure reaches the item too. */
  customIdentifier: string | null
}

export interface EndedRunFacts {
  code: string | null
  details: Record<string, unknown>
}

/** An ended item that lacks scores. */
export type UnscoredItem = Pick<ExperimentItem, 'conversationUuid' | 'exampleUuid'>

/** Items from a position on. */
interface OpenFilter {
  /** Those that score by themselves. */
  evaluationUuids: readonly string[]
  from: number
}

/** What a look has counted before it ends the experiment. */
interface Seen extends Pick<RunningExperiment, 'revision'> {
  /** Items without a run. */
  unstarted: number
}

/** What the loop of each process reads and writes. Its statements do not count as requests. */
export interface ExperimentWorkStore {
  listRunning(): Promise<RunningExperiment[]>
  isRunning(experimentUuid: string): Promise<boolean>
  findTexts(experimentUuid: string): Promise<ExperimentTexts>
  /** Of the items from the position `from` up to but without `to`. */
  progress(experimentUuid: string, range: { from: number; to: number }): Promise<Progress>
  /** The position of the first item that has not ended, or that lacks a score. Null if there is none. */
  firstOpen(experimentUuid: string, filter: OpenFilter): Promise<number | null>
  /** None if the experiment does not run any more. */
  listWaiting(experimentUuid: string, filter: { from: number; limit: number }): Promise<WaitingItem[]>
  markStarted(conversationUuids: readonly string[]): Promise<void>
  endItems(itemUuids: readonly string[], code: ItemCode): Promise<void>
  /** Items whose first attempt failed for a passing reason at least 30 s ago. */
  listRetries(experimentUuid: string, from: number): Promise<Pick<ExperimentItem, 'uuid' | 'attempt'>[]>
  nextAttempts(experimentUuid: string, attempts: readonly NextAttempt[]): Promise<void>
  /** The conversations of items whose runs are active. */
  listActive(experimentUuid: string): Promise<string[]>
  /** The last ends, newest first, of the current attempts. */
  listLastEnds(experimentUuid: string, limit: number): Promise<EndedRunFacts[]>
  /** Items that have ended for good and have fewer automatic scores than evaluations. */
  listUnscored(experimentUuid: string, filter: OpenFilter & { limit: number }): Promise<UnscoredItem[]>
  /**
   * Returns false if it has ended already, or if it is not as the caller has `seen` it: then it needs another look. Also
   * notes starts that a dead process did not note.
   */
  finish(
    experimentUuid: string,
    change: Pick<StateChange, 'state' | 'reason' | 'isStale'>,
    seen?: Seen,
  ): Promise<boolean>
  /** Null if the row was deleted. Waits for an edit that is under way. */
  rowRevision(exampleUuid: string): Promise<string | null>
  /** Drops the answers of one experiment that ended more days ago. Returns false if there is none. */
  dropAnswers(days: number): Promise<boolean>
}

export interface ExperimentSettings {
  maxUsd: number
  /** 0 = keep forever. */
  retentionDays: number
}

export interface ExperimentDeps {
  work: ExperimentWorkStore
  settings: ExperimentSettings
  /** Starts the next items now. The loop of this process sets it. */
  loop: { wake: Wakeable['wake'] }
}
