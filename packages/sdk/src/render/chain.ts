import type { RenderedMessage, RenderedPart } from '@stet/template'
import { AbortError, type Message } from '../index.ts'
import { readAnswers, writeConversation } from './adapter.ts'
import { runFailure } from './failures.ts'
import type { RenderChainOptions } from './options.ts'

const DEFAULT_MAX_STEPS = 20

interface Step {
  number: number
  input: RenderedMessage[]
  config: Record<string, unknown>
}

const PAUSED = Symbol('paused')

/**
 * Returns the messages of a step: the tool rounds, then the last response. If a tool handler paused, `isPaused` is true
 * and the last response contains the open tool calls.
 */
export async function answerStep<M>(
  step: Step,
  o: RenderChainOptions<M>,
): Promise<{ answer: RenderedMessage[]; isPaused: boolean }> {
  const limit = o.maxSteps ?? Number(step.config['maxSteps'] ?? step.config['max_steps'] ?? DEFAULT_MAX_STEPS)
  const answer: RenderedMessage[] = []
  for (let calls = 0; calls < limit; calls++) {
    if (o.signal?.aborted) throw new AbortError('The chain was aborted', { detached: false, cause: o.signal.reason })
    const said = await askModel(step, [...step.input, ...answer], o)
    answer.push(...said)
    const open = said.flatMap(({ content }) => content).filter(({ type }) => type === 'tool-call')
    const handled = open.filter(({ toolName }) => o.tools && Object.hasOwn(o.tools, String(toolName)))
    // A tool call without a handler ends the step, because the model cannot continue without the call's result.
    if (open.length === 0 || handled.length < open.length) return { answer, isPaused: false }
    const { messages } = writeConversation<Message>(step.config, [...step.input, ...answer], o)
    const results = await answerCalls(open, o, messages)
    if (!results) return { answer, isPaused: true }
    answer.push({ role: 'tool', content: results })
  }
  throw runFailure('max_step_count_exceeded_error', `The run reached its limit of ${limit} model calls`, {
    maxSteps: limit,
  })
}

async function askModel<M>(
  { number, config }: Step,
  messages: RenderedMessage[],
  o: RenderChainOptions<M>,
): Promise<RenderedMessage[]> {
  const written = writeConversation<M>(config, messages, o)
  const said = await o.onStep({ ...written, step: number, ...(o.signal && { signal: o.signal }) })
  if (typeof said === 'string') return [{ role: 'assistant', content: [{ type: 'text', text: said }] }]
  return readAnswers(said, o.adapter)
}

/** Returns undefined if a handler paused. */
async function answerCalls<M>(
  calls: readonly RenderedPart[],
  o: RenderChainOptions<M>,
  messages: Message[],
): Promise<RenderedPart[] | undefined> {
  const results = await Promise.all(calls.map((call) => answerCall(call, o, messages)))
  return results.every((result) => result !== PAUSED) ? results : undefined
}

async function answerCall<M>(
  { toolCallId, toolName, args }: RenderedPart,
  { tools = {}, signal = new AbortController().signal }: RenderChainOptions<M>,
  messages: Message[],
): Promise<RenderedPart | typeof PAUSED> {
  const given = (args ?? {}) as Record<string, unknown>
  const call = { id: String(toolCallId), name: String(toolName), arguments: given }
  const part = { type: 'tool-result', toolCallId, toolName }
  const pauseExecution = (): never => {
    throw PAUSED
  }
  try {
    const result = await tools[call.name]?.(given, { ...call, conversationUuid: '', messages, signal, pauseExecution })
    return { ...part, result: result ?? null }
  } catch (error) {
    if (error === PAUSED) return PAUSED
    return { ...part, result: error instanceof Error ? error.message : String(error), isError: true }
  }
}
