/** One model call of a step as events; on a failure what had arrived stays in the conversation. */
import type { ModelChunk } from '../../providers/model-driver.ts'
import { ProviderError } from '../../providers/provider-error.ts'
import type { Message } from '../../templates/message.ts'
import type { RunEvent, ShowEvents } from '../run-event.ts'
import { createModelAnswer, type ModelAnswer } from './model-answer.ts'
import { failureEvent, toRunError } from './provider-failure.ts'
import type { RunPlan } from './run-plan.ts'
import type { RunProgress } from './run-progress.ts'
import type { StepSetUp } from './set-up-step.ts'
import type { ShownCalls } from './tools/shown-calls.ts'

export interface ModelCall {
  setUp: StepSetUp
  plan: RunPlan
  progress: RunProgress
  messages: Message[]
  /** Takes every tool call before it is shown. */
  shown: ShownCalls
  /** Number of the call within its step, from 0. */
  turn: number
  showEvents: ShowEvents
  signal: AbortSignal
}

/** @throws RunError, or the reason of `signal`. */
export async function callModel(call: ModelCall): Promise<ModelAnswer> {
  const { prompt, provider, model, driver, toolbox } = call.setUp
  const answer = createModelAnswer(call.turn, toolbox)
  const request = {
    provider,
    model,
    messages: call.messages,
    settings: prompt.settings,
    tools: [...toolbox.values()].map(({ definition }) => definition),
    ...(prompt.schema && { schema: prompt.schema }),
    stream: call.plan.stream,
    maxRetries: prompt.maxRetries,
    signal: call.signal,
  }
  try {
    await driver.call(request)((chunks) => takeChunks(call, answer, chunks))
  } catch (failure) {
    const partial = answer.partialMessage()
    if (partial) call.progress.list.append([partial])
    if (!(failure instanceof ProviderError)) throw failure
    call.showEvents([{ provider: failureEvent(failure) }])
    throw toRunError(failure, provider, model)
  }
  call.showEvents([{ provider: { type: 'finish-step', finishReason: answer.finishReason, usage: answer.usage } }])
  return answer
}

// In the turn in which they were read, but for tool calls: those are stored before anybody sees them.
function takeChunks(
  { shown, showEvents }: ModelCall,
  answer: ModelAnswer,
  chunks: readonly ModelChunk[],
): Promise<void> | undefined {
  const events: RunEvent[] = []
  const known = answer.calls.length
  for (const chunk of chunks) {
    const event = answer.take(chunk)
    if (event) events.push({ provider: event })
  }
  const calls = answer.calls.slice(known)
  if (calls.length > 0) return shown.show(calls).then(() => showEvents(events))
  if (events.length > 0) showEvents(events)
  return undefined
}
