/** Builds and shows a step's response after its last model call. */
import type { Message, ToolCall } from '@stet/contract/vocabulary'
import { RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { latitude, locate, type RunProgress, type RunWatch, type StepTotals } from '../events/run-progress.ts'
import type { EncodedResponse, StepResponse } from '../run.ts'
import type { ModelAnswer } from './call-model.ts'
import type { RunPlan } from './run-plan.ts'
import type { StepSetUp } from './set-up-step.ts'
import { structuredAnswer } from './structured-answer.ts'

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
  const { plan, setUp, progress, input, step, requests, showEvents } = end
  const isObject = setUp.prompt.schema !== undefined && requests.length === 0
  const object = isObject ? await structuredAnswer(deps, end) : undefined
  const response = responseOf(end, isObject, object)
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

function responseOf(
  { setUp, step: { spending }, answer, requests }: StepEnd,
  isObject: boolean,
  object: unknown,
): Omit<StepResponse, 'input' | 'output'> {
  return {
    streamType: isObject ? 'object' : 'text',
    text: answer.text,
    ...(isObject && { object }),
    toolCalls: requests,
    ...(answer.reasoning !== '' && { reasoning: answer.reasoning }),
    usage: spending.tokenUsage,
    cost: spending.cost,
    model: setUp.model,
    provider: setUp.provider.kind,
    finishReason: requests.length > 0 ? 'tool-calls' : answer.finishReason,
  }
}

/** The limit for a run, over all steps and agents. */
const maxModelCalls = 150

/** @throws RunError `max_step_count_exceeded_error` if the prompt or the run has no model call left. */
export function assertMayCall(progress: RunProgress, setUp: StepSetUp, callNumber: number): void {
  const { maxSteps } = setUp.prompt
  const limit =
    callNumber >= maxSteps ? maxSteps : progress.budget.modelCalls >= maxModelCalls ? maxModelCalls : undefined
  if (limit === undefined) return
  throw new RunError('max_step_count_exceeded_error', `The run reached its limit of ${limit} model calls`, {
    details: { maxSteps: limit },
  })
}
