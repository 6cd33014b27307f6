import { AppError, refuse } from '../../../shared/app-error.ts'
import type { Caller } from '../../../shared/caller.ts'
import type { PreparedPrompt } from '../../documents/read-document.ts'
import { agentText, type FingerprintDeps, fingerprintPrompt } from '../../runs/tools/fingerprint-prompt.ts'
import type { Evaluation } from '../evaluation.ts'
import { findEvaluation } from '../find-evaluation.ts'
import { type Agreement, agreementOf } from './agreement.ts'
import { findJudgePrompt } from './judge-prompt.ts'
import { judgeText } from './judge-run.ts'

interface AgreementInput {
  caller: Caller
  evaluationUuid: string
  /** The fingerprint of the judge. Default: that of now. */
  judge?: string
}

export interface JudgeAgreement extends Agreement {
  evaluation: Evaluation
  fingerprint: string | null
}

/** @throws AppError NotFoundError; UnprocessableEntityError for an evaluation that is not a judge. */
export async function readAgreement(deps: FingerprintDeps, input: AgreementInput): Promise<JudgeAgreement> {
  const { caller, judge } = input
  const evaluation = await findEvaluation(deps, input)
  const now = await judgeNow(deps, caller, evaluation)
  const fingerprint = judge ?? now.fingerprint
  return { evaluation, fingerprint, ...(await agreementWith(deps, evaluation, { ...now, fingerprint })) }
}

/** The prompt of the judge as it is now. Without it, the judge was deleted. */
export async function judgeNow(
  deps: FingerprintDeps,
  caller: Pick<Caller, 'workspaceId' | 'projectId'>,
  { name, projectId, judgeDocumentUuid }: Evaluation,
): Promise<JudgeNow> {
  if (judgeDocumentUuid === null) throw refuse('no-judge', { name })
  const prompt = await findJudgePrompt(deps, { caller, projectId, judge: judgeDocumentUuid }).catch(
    (error: unknown): undefined => {
      if (error instanceof AppError && error.code === 'NotFoundError') return undefined
      throw error
    },
  )
  if (!prompt) return { prompt, fingerprint: null }
  const { workspaceId } = caller
  const facts = { workspaceId, projectId, versionUuid: prompt.version.uuid, ...judgeText(prompt), overrides: null }
  const { fingerprint } = await fingerprintPrompt(deps, { ...facts, ...agentText(prompt.scan) })
  return { prompt, fingerprint }
}

export interface JudgeNow {
  fingerprint: string | null
  prompt: PreparedPrompt | undefined
}

/** The labels count from the last edit of the judge on. */
export async function agreementWith(
  { stores }: Pick<FingerprintDeps, 'stores'>,
  { workspaceId, uuid }: Evaluation,
  { fingerprint, prompt }: JudgeNow,
): Promise<Agreement> {
  const answers = fingerprint === null ? [] : await stores.scores.listJudged(workspaceId, uuid, fingerprint)
  return agreementOf(answers, prompt?.text.updatedAt ?? null)
}
