/** Runs one step: repeats model calls until one has no tool calls, or has a tool request for the caller. */

import type { Message, ToolCall } from '@stet/contract/vocabulary'
import { RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { EncodedResponse, RunSpending, StepResponse } from '../run.ts'
import { type AnswerDeps, answerCalls } from '../tools/answer-calls.ts'
import type { ExecuteRun } from '../tools/run-agent.ts'
import { endWait, isAwaited, type ShownCalls } from '../tools/shown-calls.ts'
import type { StepTool } from '../tools/tool.ts'
import { callModel, type ModelAnswer } from './call-model.ts'
import type { RunPlan } from './run-plan.ts'
import {
  addOutput,
  latitude,
  locate,
  nothingSpent,
  type RunProgress,
  type RunWatch,
  type StepTotals,
  spend,
} from './run-progress.ts'
import type { StepSetUp } from './set-up-step.ts'
import { structuredAnswer } from './structured-answer.ts'

export type StepDeps = AnswerDeps & Needs<'providers'>

/** The limit for a run, over all steps and agents. */
const maxModelCalls = 150

export interface StepInput extends RunWatch {
  plan: RunPlan
  setUp: StepSetUp
  progress: RunProgress
  input: Message[]
  execute: ExecuteRun
}

export interface StepOutcome {
  answer: EncodedResponse
  output: Message[]
  toolRequests: ToolCall[]
}

export async function runStep(
  deps: StepDeps,
  { plan, setUp, progress, input, execute, ...watch }: StepInput,
): Promise<StepOutcome> {
  const { toolbox } = setUp
  const { showEvents } = watch
  const step: StepTotals = { output: [], spending: nothingSpent() }
  showEvents([
    latitude(progress, { type: 'step-started' }),
    latitude(progress, { type: 'provider-started', config: setUp.config }),
  ])
  for (let callNumber = 0; ; callNumber += 1) {
    assertMayCall(progress, setUp, callNumber)
    progress.budget.modelCalls += 1
    showEvents([{ provider: { type: 'start-step', step: callNumber + 1 } }])
    const shown: ShownCalls = { scope: plan.tools, toolbox, progress, waiting: new Map() }
    try {
      const messages = [...input, ...step.output]
      const answer = await callModel(deps, { setUp, plan, progress, messages, shown, callNumber, ...watch })
      const { usage, price, faultyCalls } = answer
      spend(progress, step, { tokenUsage: usage, cost: price.cost, costUnknown: !price.known })
      addOutput(progress, step, answer.message)
      const requests = answer.calls.filter(({ name }) => isRequest(toolbox.get(name)))
      const calls = answer.calls.filter((call) => !requests.includes(call))
      if (calls.length > 0 || faultyCalls.length > 0) {
        // Fails before the tools run if no model call is left for the results.
        if (requests.length === 0) assertMayCall(progress, setUp, callNumber + 1)
        await answerCalls(deps, { plan, progress, toolbox, shown, calls, faultyCalls, execute, ...watch, step })
        if (requests.length === 0) continue
      }
      const isObject = setUp.prompt.schema !== undefined && requests.length === 0
      const object = isObject ? await structuredAnswer(deps, { setUp, plan, answer, ...watch }) : undefined
      const response = responseOf(setUp, { answer, requests, spending: step.spending, isObject, object })
      const places = { input: locate(progress, input), output: locate(progress, step.output) }
      const encoded = progress.codec.encodeResponse({ ...response, ...places }, plan.tools.conversationUuid)
      progress.answer = encoded
      const { finishReason, usage: tokenUsage } = response
      showEvents([
        { provider: { type: 'finish', finishReason, usage: tokenUsage } },
        latitude(progress, { type: 'provider-completed', response: encoded, tokenUsage, finishReason }),
        latitude(progress, { type: 'step-completed' }),
      ])
      return { answer: encoded, output: step.output, toolRequests: requests }
    } finally {
      for (const id of [...shown.waiting.keys()]) endWait(shown, id)
    }
  }
}

/** True if a call of this tool ends the run. The caller continues with a chat. */
function isRequest(tool: StepTool | undefined): boolean {
  return tool?.source === 'client' && !isAwaited(tool)
}

function assertMayCall(progress: RunProgress, setUp: StepSetUp, callNumber: number): void {
  const { maxSteps } = setUp.prompt
  const limit =
    callNumber >= maxSteps ? maxSteps : progress.budget.modelCalls >= maxModelCalls ? maxModelCalls : undefined
  if (limit === undefined) return
  throw new RunError('max_step_count_exceeded_error', `The run reached its limit of ${limit} model calls`, {
    details: { maxSteps: limit },
  })
}

interface StepAnswer {
  answer: ModelAnswer
  requests: ToolCall[]
  spending: RunSpending
  isObject: boolean
  object: unknown
}

function responseOf(
  setUp: StepSetUp,
  { answer, requests, spending, isObject, object }: StepAnswer,
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
