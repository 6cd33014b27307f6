import type {
  Experiment as ExperimentBody,
  ExperimentItem as ItemBody,
  ExperimentRow as RowBody,
} from '@stet/contract/vocabulary'
import { EXPERIMENT_LIMITS } from '@stet/contract/vocabulary'
import type { ShownExperiment } from '../features/experiments/experiment.ts'
import type { ShownItem, ShownRow } from '../features/experiments/ports.ts'

export function experimentBody(experiment: ShownExperiment): ExperimentBody {
  return {
    uuid: experiment.uuid,
    projectId: experiment.projectId,
    path: experiment.path,
    documentUuid: experiment.documentUuid,
    tag: experiment.tag,
    state: experiment.state,
    reason: experiment.reason,
    isStale: experiment.isStale,
    arms: experiment.arms.map(({ versionUuid, label, overrides, fingerprint }) => {
      return { versionUuid, label, overrides, fingerprint }
    }),
    trials: experiment.trials,
    concurrency: experiment.concurrency,
    maxRuns: experiment.maxRuns,
    budgetUsd: experiment.budgetUsd,
    costUsd: experiment.costUsd,
    counts: experiment.counts,
    evaluations: experiment.evaluations,
    estimateUsd: experiment.estimateUsd,
    origin: experiment.origin,
    author: experiment.author,
    createdAt: experiment.createdAt.toISOString(),
    finishedAt: experiment.finishedAt?.toISOString() ?? null,
  }
}

export function experimentRowBody(row: ShownRow, areAnswersDropped: boolean): RowBody {
  return {
    exampleUuid: row.exampleUuid,
    name: row.name,
    tags: row.tags,
    parameters: row.parameters,
    expected: row.expected,
    hasChanged: row.hasChanged,
    items: row.items.map((item) => itemBody(item, areAnswersDropped)),
  }
}

function itemBody(item: ShownItem, areAnswersDropped: boolean): ItemBody {
  const isDropped = areAnswersDropped || item.isDropped
  const { answer, isCut } = cut(isDropped ? null : item.answer)
  return {
    uuid: item.uuid,
    arm: item.arm,
    trial: item.trial,
    attempt: item.attempt,
    state: item.state,
    code: item.code,
    conversationUuid: item.conversationUuid,
    answer,
    isAnswerCut: isCut,
    isAnswerDropped: isDropped,
    costUsd: item.costUsd,
    durationMs: item.durationMs,
    scores: Object.entries(item.scores).map(([evaluationUuid, { hasPassed, by, code }]) => {
      const reason = item.reasons[evaluationUuid] ?? null
      return { evaluationUuid, passed: hasPassed ?? null, by, code: code ?? null, reason }
    }),
  }
}

/** Cuts at a whole character. */
function cut(answer: string | null): { answer: string | null; isCut: boolean } {
  const { answerBytes } = EXPERIMENT_LIMITS
  if (answer === null || Buffer.byteLength(answer) <= answerBytes) return { answer, isCut: false }
  const bytes = Buffer.from(answer).subarray(0, answerBytes)
  return { answer: new TextDecoder().decode(bytes, { stream: true }), isCut: true }
}
