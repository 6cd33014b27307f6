/** The parts of a step around its model calls: finds provider, model and tools, and shows its response. */
import type { Message, ToolCall } from '@stet/contract/vocabulary'
import { RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { listProviders } from '../../providers/list-providers.ts'
import { chooseModel, chooseProvider, resolveProvider } from '../../providers/resolve-provider.ts'
import { readPromptConfig } from '../../templates/prompt-config.ts'
import { latitude, locate, type RunProgress, type RunWatch, type StepTotals } from '../events/run-progress.ts'
import type { EncodedResponse, StepResponse } from '../run.ts'
import { gatherTools, type ToolboxDeps } from '../tools/gather-tools.ts'
import type { ModelAnswer } from './call-model.ts'
import type { RunPlan, StepSetUp } from './run-plan.ts'
import { structuredAnswer } from './structured-answer.ts'

export type SetUpDeps = ToolboxDeps & Needs<'providers' | 'secrets' | 'clock' | 'logger'>

/** @throws RunError if the configuration, provider, model or a tool is invalid or missing. */
export async function setUpStep(
  deps: SetUpDeps,
  plan: RunPlan,
  written: Record<string, unknown>,
  signal: AbortSignal,
): Promise<StepSetUp> {
  const prompt = readPromptConfig(written, plan.path, [...deps.runs.serverTools.keys()])
  const entries = await listProviders(deps, plan.tools.workspaceId)
  const { environment } = deps.providers
  const entry = chooseProvider(entries, {
    path: plan.path,
    named: prompt.provider,
    projectDefault: plan.projectDefaults.provider,
    serverDefault: environment.defaultProvider,
  })
  const model = chooseModel(entry, {
    path: plan.path,
    named: prompt.model,
    projectDefault: plan.projectDefaults.model,
    serverDefault: environment.defaultModel,
  })
  const provider = resolveProvider(deps, entry)
  const toolbox = await gatherTools(deps, plan.tools, prompt, signal)
  const config = { ...written, provider: provider.name, model }
  return { prompt, provider, model, toolbox, config }
}

interface StepEnd extends RunWatch {
  plan: RunPlan
  setUp: StepSetUp
  progress: RunProgress
  input: readonly Message[]
  step: StepTotals
  answer: ModelAnswer
  /** Calls of the caller's tools that end the run. */
  requests: ToolCall[]
}

/** @throws the errors of `structuredAnswer`. */
export async function respond(deps: Needs<'templates'>, end: StepEnd): Promise<EncodedResponse> {
  const { plan, setUp, progress, input, step, answer, requests, showEvents } = end
  const isObject = setUp.prompt.schema !== undefined && requests.length === 0
  const object = isObject ? await structuredAnswer(deps, end) : undefined
  const response: Omit<StepResponse, 'input' | 'output'> = {
    streamType: isObject ? 'object' : 'text',
    text: answer.text,
    ...(isObject && { object }),
    toolCalls: requests,
    ...(answer.reasoning !== '' && { reasoning: answer.reasoning }),
    usage: step.spending.tokenUsage,
    cost: step.spending.cost,
    model: setUp.model,
    provider: setUp.provider.kind,
    finishReason: requests.length > 0 ? 'tool-calls' : answer.finishReason,
  }
  const places = { input: locate(progress, input), output: locate(progress, step.output) }
  const encoded = progress.codec.encodeResponse({ ...response, ...places }, plan.tools.conversationUuid)
  progress.answer = encoded
  const { finishReason, usage: tokenUsage } = response
  showEvents([
    { provider: { type: 'finish', finishReason, usage: tokenUsage } },
    latitude(progress, { type: 'provider-completed', response: encoded, tokenUsage, finishReason }),
    latitude(progress, { type: 'step-completed' }),
  ])
  return encoded
}

/** The limit for a run, over all steps and agents. */
const maxModelCalls = 150

/** @throws RunError `max_step_count_exceeded_error` if the prompt or the run has no model call left. */
export function assertMayCall(progress: RunProgress, setUp: StepSetUp, callNumber: number): void {
  const { maxSteps } = setUp.prompt
  const limit =
    callNumber >= maxSteps ? maxSteps : progress.facts.modelCalls >= maxModelCalls ? maxModelCalls : undefined
  if (limit === undefined) return
  throw new RunError('max_step_count_exceeded_error', `The run reached its limit of ${limit} model calls`, {
    details: { maxSteps: limit },
  })
}
