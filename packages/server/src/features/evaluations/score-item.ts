/** Scores the answer of an experiment's item. Everything in it can be repeated, also by several processes at once. */
import { createHash, randomUUID } from 'node:crypto'
import type { Check, Message } from '@stet/contract/vocabulary'
import { storableText } from '../../shared/text-guards.ts'
import type { Needs } from '../deps.ts'
import type { ExecuteDeps } from '../runs/execute-run.ts'
import { isOwnFailure } from './checks/own-failure.ts'
import { checkRunner } from './checks/score.ts'
import type { Annotation, Evaluation } from './evaluation.ts'
import type { Judge } from './judge/judge.ts'
import { askJudge, type Verdict } from './judge/judge-run.ts'
import type { RunToScore } from './ports.ts'
import { scoreChecks } from './score-checks.ts'

export type ScoreDeps = ExecuteDeps & Needs<'stores' | 'transaction'>

/** The row as it is now. */
export interface ScoredRow {
  expected: unknown
  checks: readonly Check[]
  parameters: Record<string, unknown>
  messages: readonly Message[]
}

export interface ScoreItemInput {
  workspaceId: number
  projectId: number
  /** The conversation of the item's run. */
  conversationUuid: string
  row: ScoredRow
  evaluationUuids: readonly string[]
  /** Of the evaluations of type `judge`. */
  judges: readonly Judge[]
  /** False if no judge may start. The scores of running judges still count. Default: true. */
  mayAskJudges?: boolean
}

export interface ItemScored {
  /** `waiting` while the run or a judge is under way; `left` if only judges are missing that may not start. */
  state: 'complete' | 'waiting' | 'left'
  /** True if this call stored a score. */
  hasStored: boolean
}

const nothingToScore: ItemScored = { state: 'complete', hasStored: false }

/**
 * Stores the automatic scores that the answer lacks. After a change of the row's checks or of what it expects, it replaces
 * them, without running the prompt again.
 * @throws AppError ServiceUnavailableError, after which it can be repeated.
 */
export async function scoreItem(deps: ScoreDeps, input: ScoreItemInput): Promise<ItemScored> {
  const { workspaceId, projectId, conversationUuid, evaluationUuids } = input
  const run = await deps.stores.scores.findRun(workspaceId, conversationUuid)
  if (!run || run.projectId !== projectId) return nothingToScore
  if (run.endedAt === null) return { state: 'waiting', hasStored: false }
  const evaluations = await deps.stores.evaluations.listByUuids(workspaceId, evaluationUuids)
  const known = await deps.stores.scores.listHashes(workspaceId, conversationUuid)
  const isRead = input.judges.length > 0 || evaluations.some(readsExpected)
  const missing = new Set<'waiting' | 'left'>()
  let hasStored = false
  for (const evaluation of evaluations) {
    const scorer = evaluation.projectId === projectId ? scorerOf(evaluation, input, isRead) : undefined
    if (!scorer) continue
    const { uuid: evaluationUuid } = evaluation
    const scorerHash = hashOf(scorer.dependsOn)
    const own = known.filter((one) => one.evaluationUuid === evaluationUuid)
    const isScored = own.some((one) => one.scorerHash === scorerHash)
    if (isScored && own.length === 1) continue
    const score = isScored ? undefined : await scorer.score(deps, run, scorerHash)
    if (score === 'waiting' || score === 'left') {
      missing.add(score)
      continue
    }
    await deps.transaction(async ({ scores }) => {
      await scores.deleteOthers(workspaceId, { conversationUuid, evaluationUuid, scorerHash })
      if (score) await scores.insert(workspaceId, annotationOf(deps, run, { evaluation, scorerHash, score, scorer }))
    })
    hasStored = true
  }
  return { state: missing.has('waiting') ? 'waiting' : missing.has('left') ? 'left' : 'complete', hasStored }
}

interface Scorer {
  source: 'rule' | 'judge'
  /** What the score depends on beside the answer. */
  dependsOn: readonly unknown[]
  /** Stored with the score. */
  metadata: Record<string, unknown>
  score(deps: ScoreDeps, run: RunToScore, scorerHash: string): Promise<Verdict | 'waiting' | 'left'>
}

/** Undefined for evaluations whose scores come from people or from code elsewhere. */
function scorerOf(evaluation: Evaluation, input: ScoreItemInput, isRead: boolean): Scorer | undefined {
  const { row, judges } = input
  const expected = row.expected ?? undefined
  if (evaluation.type === 'rule') {
    const checks = evaluation.builtIn === 'checks' ? rowChecks(row, isRead) : (evaluation.checks ?? [])
    return {
      ...{ source: 'rule', dependsOn: ['checks', checks, expected], metadata: {} },
      score: (deps, run) => scoreByChecks(deps, input, { run, checks, expected }),
    }
  }
  if (evaluation.type !== 'judge') return undefined
  const judge = judges.find(({ evaluationUuid }) => evaluationUuid === evaluation.uuid)
  const fingerprint = judge?.fingerprint ?? ''
  return {
    ...{ source: 'judge', dependsOn: ['judge', fingerprint, expected], metadata: { fingerprint } },
    score: (deps, run, scorerHash) => scoreByJudge(deps, input, { run, judge, scorerHash }),
  }
}

/** A row without checks is compared with what it expects, unless a rule or a judge reads that. */
function rowChecks({ checks, expected }: ScoredRow, isRead: boolean): readonly Check[] {
  const isCompared = checks.length === 0 && !isRead && expected !== undefined && expected !== null
  return isCompared ? [{ type: 'exact' }] : checks
}

function readsExpected({ checks }: Evaluation): boolean {
  return (checks ?? []).some(
    (check) =>
      (check.type === 'exact' && check.value === undefined) ||
      (check.type === 'contains' && check.all === undefined && check.any === undefined),
  )
}

interface ByChecks {
  run: RunToScore
  checks: readonly Check[]
  expected: unknown
}

async function scoreByChecks(
  deps: ScoreDeps,
  { workspaceId }: ScoreItemInput,
  { run, checks, expected }: ByChecks,
): Promise<Verdict> {
  if (run.hasToolRequests) return { state: 'unscored', code: 'open-tool-call' }
  const { costUsd, durationMs, response, error } = run
  const answer = {
    ...{ text: response?.text ?? '', object: response?.object, costUsd, durationMs },
    error: error ? { code: error.code, isOwn: isOwnFailure(error) } : undefined,
  }
  return scoreChecks(checkRunner(deps.templates, { workspaceId }), { checks, expected, answer })
}

interface ByJudge {
  run: RunToScore
  judge: Judge | undefined
  scorerHash: string
}

/** A judge is asked only about answers: the prompt's own failure fails, and any other is unscored. */
async function scoreByJudge(
  deps: ScoreDeps,
  { workspaceId, row, mayAskJudges: mayStart = true }: ScoreItemInput,
  { run, judge, scorerHash: hash }: ByJudge,
): Promise<Verdict | 'waiting' | 'left'> {
  const { error, response, hasToolRequests } = run
  if (error && !isOwnFailure(error)) return { state: 'unscored', code: error.code }
  if (error) return { state: 'scored', hasPassed: false, reason: `The run failed: ${error.code}` }
  if (hasToolRequests) return { state: 'unscored', code: 'open-tool-call' }
  if (!judge) return { state: 'unscored', code: 'no-judge' }
  const input = { ...row, answer: response?.text ?? '' }
  return askJudge(deps, { workspaceId, judge, hash, run, input, mayStart })
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

const longestReason = 2_000

interface ToStore {
  evaluation: Evaluation
  scorerHash: string
  score: Verdict
  scorer: Scorer
}

function annotationOf(
  { clock }: Needs<'clock'>,
  { conversationUuid, versionUuid, authorId }: RunToScore,
  { evaluation, scorerHash, score, scorer }: ToStore,
): Annotation {
  const { reason } = score
  const shown = reason === undefined ? {} : { reason: storableText(reason.slice(0, longestReason)) }
  const facts = {
    ...{ uuid: randomUUID(), conversationUuid, evaluationUuid: evaluation.uuid, versionUuid, authorId: authorId ?? 0 },
    ...{ source: scorer.source, by: null, metadata: { ...scorer.metadata, ...shown }, scorerHash },
    ...{ judgeConversationUuid: score.judgeConversationUuid ?? null, createdAt: clock.now() },
  }
  if (score.state === 'unscored') {
    return { ...facts, state: 'unscored', code: score.code, score: null, normalizedScore: null, hasPassed: null }
  }
  const { hasPassed } = score
  const [value, normalizedScore] = hasPassed ? [1, 100] : [0, 0]
  return { ...facts, state: 'scored', code: null, score: value, normalizedScore, hasPassed }
}
