/** Answers a model call's tool calls in parallel. Shows each result as it arrives; one message contains all results. */

import type { Message, MessagePart, ToolCall } from '@stet/contract/vocabulary'
import { storableJson } from '../../../shared/text-guards.ts'
import type { Span } from '../../../shared/tracer.ts'
import type { Needs } from '../../deps.ts'
import type { ProviderEvent } from '../events/run-event.ts'
import type { ToolScope } from '../run.ts'
import type { FaultyCall } from '../steps/call-model.ts'
import type { RunPlan } from '../steps/run-plan.ts'
import type { RunProgress, RunWatch } from '../steps/run-progress.ts'
import { addOutput, type StepTotals, spend } from '../steps/run-progress.ts'
import { type ExecuteRun, runAgent } from './run-agent.ts'
import { answerOf, type ShowDeps, type ShownCalls, timedOut } from './shown-calls.ts'
import type { ServerTool, Toolbox, ToolOutcome } from './tool.ts'

export type AnswerDeps = ShowDeps & Needs<'templates' | 'logger'>

export interface ToolAnswers extends RunWatch {
  plan: RunPlan
  progress: RunProgress
  toolbox: Toolbox
  shown: ShownCalls
  /** Calls that the server answers, or that wait for the caller's result. */
  calls: readonly ToolCall[]
  /** Calls that were already shown as errors. */
  faultyCalls: readonly FaultyCall[]
  execute: ExecuteRun
  step: StepTotals
}

/** @throws the reason of `own.signal`, or the first error of a call. Earlier results stay in the conversation. */
export async function answerCalls(deps: AnswerDeps, own: ToolAnswers): Promise<void> {
  const { progress, step, faultyCalls, calls, showEvents } = own
  const outcomes = new Map<string, ToolOutcome>()
  const others = new AbortController()
  const signal = AbortSignal.any([own.signal, others.signal])
  for (const { id, reason } of faultyCalls) outcomes.set(id, { result: reason, isError: true })
  const pending = calls.map(async (call) => {
    const outcome = await tracedAnswer(deps, own, call, signal)
    // An agent's spending counts even if the run was aborted.
    if (outcome.spending) spend(progress, step, outcome.spending)
    signal.throwIfAborted()
    outcomes.set(call.id, outcome)
    showEvents([{ provider: resultEvent(call, outcome) }])
  })
  try {
    await Promise.all(pending)
  } catch (error) {
    others.abort(error)
    await Promise.allSettled(pending)
    throw error
  } finally {
    const message = resultMessage([...faultyCalls, ...calls], outcomes)
    if (message.content.length > 0) addOutput(progress, step, message)
  }
}

async function tracedAnswer(
  deps: AnswerDeps,
  own: ToolAnswers,
  call: ToolCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const span = own.span?.child(`execute_tool ${call.name}`, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': call.id,
    'stet.tool.source': own.toolbox.get(call.name)?.source,
  })
  span?.setContent(() => ({ 'gen_ai.tool.call.arguments': JSON.stringify(call.arguments) }))
  try {
    const outcome = await answer(deps, { ...own, span }, call, signal)
    span?.setContent(() => ({ 'gen_ai.tool.call.result': JSON.stringify(outcome.result) }))
    span?.end(outcome.isError ? 'tool_error' : undefined)
    return outcome
  } catch (error) {
    span?.end('aborted')
    throw error
  }
}

async function answer(deps: AnswerDeps, own: ToolAnswers, call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
  const { plan, progress, execute, span } = own
  const tool = own.toolbox.get(call.name)
  if (tool?.source === 'agentAsTool') {
    return runAgent(deps, { agent: tool, args: call.arguments, plan, progress, execute, signal, span })
  }
  if (tool?.source === 'serverTool') {
    return runServerTool(deps, { tool: tool.tool, call, scope: plan.tools, signal, span })
  }
  return answerOf(deps, own.shown, call.id, signal)
}

function resultEvent({ id, name, arguments: args }: ToolCall, outcome: ToolOutcome): ProviderEvent {
  const reference = { toolCallId: id, toolName: name, args }
  if (outcome.failure !== undefined) return { type: 'tool-error', ...reference, error: outcome.failure }
  return { type: 'tool-result', ...reference, result: outcome.result, isError: outcome.isError }
}

function resultMessage(calls: readonly ToolCall[], outcomes: ReadonlyMap<string, ToolOutcome>): Message {
  const content = calls.flatMap(({ id, name }): MessagePart[] => {
    const outcome = outcomes.get(id)
    if (!outcome) return []
    const { result, isError } = outcome
    return [{ type: 'tool-result', toolCallId: id, toolName: name, result, ...(isError && { isError }) }]
  })
  return { role: 'tool', content }
}

const maxResultCharacters = 262_144
const shownCharacters = 2_000

interface ServerToolCall {
  tool: ServerTool
  call: ToolCall
  scope: ToolScope
  signal: AbortSignal
  span: Span | undefined
}

/** @throws only the reason of `signal`. */
async function runServerTool(
  deps: Needs<'runs' | 'logger'>,
  { tool, call, scope, signal, span }: ServerToolCall,
): Promise<ToolOutcome> {
  const { toolWaitMs } = deps.runs.settings
  const { conversationUuid, workspaceId, projectId } = scope
  const limit = AbortSignal.timeout(toolWaitMs)
  const both = AbortSignal.any([signal, limit])
  const traced = span && { traceparent: span.traceparent }
  const context = { signal: both, toolCallId: call.id, conversationUuid, workspaceId, projectId, ...traced }
  try {
    // The async function turns a synchronous throw into a rejection.
    const executing = (async () => tool.execute(call.arguments, context))()
    const value = await Promise.race([executing, rejection(both)])
    return { result: plainJson(value), isError: false }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return timedOut(toolWaitMs)
    const reason = error instanceof Error ? error.name : ''
    deps.logger.warn('run.server-tool-failed', { tool: tool.name, reason, ...span?.ids })
    const failure = (error instanceof Error ? error.message : String(error)).slice(0, shownCharacters)
    return { result: failure, isError: true, failure }
  }
}

function plainJson(value: unknown): unknown {
  const text = storableJson(value ?? null)
  if (text === undefined) throw new Error('The tool gave no JSON value')
  if (text.length > maxResultCharacters) throw new Error(`The result is larger than ${maxResultCharacters} characters`)
  return JSON.parse(text)
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    if (signal.aborted) reject(signal.reason)
  })
}
