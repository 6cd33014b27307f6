/** One model call of a step as events; on a failure what had arrived stays in the conversation. */
import { ProviderError } from '../../providers/provider-error.ts'
import type { Message } from '../../templates/message.ts'
import type { RunEvent } from '../run-event.ts'
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
  signal: AbortSignal
}

/** @throws RunError, or the reason of `signal`. */
export async function* callModel(call: ModelCall): AsyncGenerator<RunEvent[], ModelAnswer> {
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
    for await (const chunks of driver.call(request)) {
      const events: RunEvent[] = []
      const known = answer.calls.length
      for (const chunk of chunks) {
        const event = answer.take(chunk)
        if (event) events.push({ provider: event })
      }
      if (answer.calls.length > known) await call.shown.show(answer.calls.slice(known))
      if (events.length > 0) yield events
    }
  } catch (failure) {
    const partial = answer.partialMessage()
    if (partial) call.progress.list.append([partial])
    if (!(failure instanceof ProviderError)) throw failure
    yield [{ provider: failureEvent(failure) }]
    throw toRunError(failure, provider, model)
  }
  yield [{ provider: { type: 'finish-step', finishReason: answer.finishReason, usage: answer.usage } }]
  return answer
}
