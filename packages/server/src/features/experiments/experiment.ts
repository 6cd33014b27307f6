/** An experiment runs the arms of one prompt over its rows. Its items are background runs, and own no state beside theirs. */
import type {
  ExperimentItemState,
  ExperimentOrigin,
  ExperimentReason,
  ExperimentState,
  RunOverrides,
} from '@stet/contract/vocabulary'
import type { Author } from '../../shared/caller.ts'
import type { Judge } from '../evaluations/judge/judge.ts'

/** A text with its settings. */
export interface Arm {
  versionUuid: string
  label: string
  overrides: RunOverrides | null
  fingerprint: string
}

/** Everything that a run of an arm needs, so that the draft can be edited while the experiment runs. `config` has the overrides. */
export type ArmText = Judge['text']

/** A judge as it was when the experiment started. */
export type ExperimentJudge = Omit<Judge, 'text'>

/** The texts of the arms and of the judges, in their order. */
export interface ExperimentTexts {
  arms: ArmText[]
  judges: Judge['text'][]
}

export interface Experiment {
  uuid: string
  workspaceId: number
  projectId: number
  path: string
  documentUuid: string
  tag: string | null
  /** True if the caller chose its rows one by one. */
  isSubset: boolean
  /** The first arm is the baseline. */
  arms: Arm[]
  trials: number
  evaluationUuids: string[]
  judges: ExperimentJudge[]
  concurrency: number
  maxRuns: number
  budgetUsd: number
  /** Null without an earlier run whose cost is known. */
  estimateUsd: number | null
  state: ExperimentState
  reason: ExperimentReason | null
  /** True if the text of an agent changed while the experiment ran. It then gives no verdict. */
  isStale: boolean
  origin: ExperimentOrigin | null
  author: Author
  apiKeyId: number
  createdAt: Date
  finishedAt: Date | null
  /** True once the retention of experiments has dropped the messages of its items. */
  areAnswersDropped: boolean
}

/** One arm on one row. Its uuids follow from its place, so that every repetition finds the same run. */
export interface ExperimentItem {
  uuid: string
  arm: number
  exampleUuid: string
  rowHash: string
  rowName: string
  /** The place of the row in the experiment. */
  position: number
  trial: number
  attempt: number
  conversationUuid: string
  /** Set when its run is stored. It never starts again, even if the conversation is deleted. */
  startedAt: Date | null
  /** Why it ended without a run. */
  code: ItemCode | null
}

export type ItemCode = 'row-changed' | 'open-tool-call'

/** What became of an item. `row-changed` items never ran. */
export type ItemOutcome = ExperimentItemState | 'row-changed'

/** An experiment with what is counted and looked up when it is shown. */
export interface ShownExperiment extends Experiment {
  costUsd: number
  counts: { total: number; waiting: number; running: number; ended: number; failed: number }
  evaluations: ShownEvaluation[]
}

export interface ShownEvaluation {
  uuid: string
  name: string
  type: string
}
