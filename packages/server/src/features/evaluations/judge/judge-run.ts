/** Asks a judge for its verdict on an answer. The judge runs in the background, under uuids that are known before. */
import { AppError } from '../../../shared/app-error.ts'
import { uuidV5 } from '../../../shared/ids.ts'
import type { PreparedPrompt } from '../../documents/read-document.ts'
import { findProject } from '../../documents/version-ref.ts'
import type { ExecuteDeps } from '../../runs/execute-run.ts'
import { itemRoom, queueItem } from '../../runs/queue/queue-run.ts'
import type { PromptInput } from '../../runs/run.ts'
import { keptParameters, newConversation } from '../../runs/start-run.ts'
import { parameterValues } from '../../templates/parameters.ts'
import { isRetried, retryPauseMs } from '../checks/own-failure.ts'
import type { Score } from '../checks/score.ts'
import type { RunToScore } from '../ports.ts'
import type { Judge, JudgeText } from './judge.ts'

export function judgeText({ source, named, text, scan, project }: PreparedPrompt): JudgeText {
  return {
    ...{ source, version: named, path: text.path, usesSteps: scan.usesSteps, config: scan.config },
    projectDefaults: { provider: project.defaultProvider, model: project.defaultModel },
  }
}

/** What a judge reads, as values of its parameters. */
export interface JudgeInput {
  parameters: Record<string, unknown>
  messages: readonly unknown[]
  expected: unknown
  answer: string
}

type JudgeDeps = ExecuteDeps & { stores: Pick<ExecuteDeps['stores'], 'scores' | 'projects'> }

interface Asked {
  workspaceId: number
  judge: Judge
  /** Of the score. It covers everything that the verdict depends on beside the answer. */
  hash: string
  /** The run whose answer is judged. */
  run: RunToScore
  input: JudgeInput
  /** False if the budget is spent. */
  mayStart: boolean
}

export type Verdict = Score & { judgeConversationUuid?: string }

/**
 * Starts the judge if it has not run for this answer. Returns `waiting` until its run has ended, and `left` if it may not start.
 * @throws AppError ServiceUnavailableError while runs cannot be stored.
 */
export async function askJudge(deps: JudgeDeps, asked: Asked): Promise<Verdict | 'waiting' | 'left'> {
  const { workspaceId, judge, hash, run } = asked
  for (const attempt of [0, 1]) {
    const uuid = uuidV5('judge', run.conversationUuid, judge.evaluationUuid, hash, attempt)
    const judged = await deps.stores.scores.findRun(workspaceId, uuid)
    if (!judged) return asked.mayStart ? startJudge(deps, asked, uuid) : 'left'
    if (judged.endedAt === null) return 'waiting'
    const isRepeated = attempt === 0 && judged.error !== null && isRetried(judged.error.code)
    if (!isRepeated) return { ...verdictOf(judged), judgeConversationUuid: uuid }
    if (deps.clock.now().getTime() - judged.endedAt.getTime() < retryPauseMs) return 'waiting'
  }
  return 'waiting'
}

/** A judge that answers in another form has given no verdict. */
function verdictOf({ error, response }: RunToScore): Score {
  if (error && error.code !== 'invalid_response_format_error') return { state: 'unscored', code: error.code }
  const { passed, reason } = Object(response?.object) as Record<string, unknown>
  if (typeof passed !== 'boolean') return { state: 'unscored', code: 'judge-format' }
  return { state: 'scored', hasPassed: passed, ...(typeof reason === 'string' && reason !== '' ? { reason } : {}) }
}

async function startJudge(deps: JudgeDeps, asked: Asked, uuid: string): Promise<Score | 'waiting'> {
  if ((await itemRoom(deps)) === 0) return 'waiting'
  const { workspaceId, judge, run, input } = asked
  const { text, documentUuid } = judge
  const { projectId, apiKeyId, authorId, customIdentifier } = run
  if (apiKeyId === null || authorId === null) return { state: 'unscored', code: 'no-key' }
  const values = judgeValues(input)
  let parameters: Record<string, unknown>
  try {
    parameters = parameterValues(text.config, values)
  } catch (error) {
    if (error instanceof AppError && error.code === 'UnprocessableEntityError')
      return { state: 'unscored', code: 'judge-input', reason: error.message }
    throw error
  }
  const caller = { workspaceId, projectId: null, sessionId: null }
  const project = await findProject(deps, caller, projectId)
  const { version, path, source, usesSteps, config, projectDefaults } = text
  const conversation = newConversation(
    deps,
    { caller },
    { project, version, text: { documentUuid, path, contentHash: version.contentHash }, scan: { config } },
    'background',
  )
  const prompt: PromptInput = {
    ...{ workspaceId, apiKeyId, version, projectDefaults, source, parameters, usesSteps, config, messages: [] },
    tools: { workspaceId, projectId, versionUuid: version.uuid, conversationUuid: uuid, awaited: [], lineage: [path] },
  }
  const keeps = project.keepParameters ?? deps.runs.settings.keepParameters
  const start = { apiKeyId, authorId, parameters: keptParameters(keeps, values) }
  // Before its run, so that no crash hides what it costs.
  await deps.stores.scores.noteJudge(workspaceId, run.conversationUuid, uuid)
  const judging = { ...conversation, uuid, via: 'judge' as const, customIdentifier, judgedUuid: run.conversationUuid }
  const outcome = await queueItem(deps, { conversation: judging, prompt, start })
  // Another process may just have stored it. Otherwise the answer or the judge's conversation was deleted.
  const isGone = outcome === 'exists' && (await deps.stores.scores.findRun(workspaceId, uuid)) === null
  return isGone ? { state: 'unscored', code: 'judge-deleted' } : 'waiting'
}

/** Texts, so that a judge needs no code to show them. An absent one is empty. */
function judgeValues({ parameters, messages, expected, answer }: JudgeInput): Record<string, string> {
  const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
  return {
    input: shown(parameters),
    messages: messages.length === 0 ? '' : shown(messages),
    expected: expected === undefined || expected === null ? '' : shown(expected),
    answer,
  }
}
