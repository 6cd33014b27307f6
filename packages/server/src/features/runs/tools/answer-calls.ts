/** Answers a model call's tool calls in parallel. Shows each result as it arrives; one message contains all results. */

import { storableJson } from '../../../shared/text-guards.ts'
import type { Needs } from '../../deps.ts'
import type { Message, MessagePart, ToolCall } from '../../templates/message.ts'
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
  /** Calls that the run itself answers, or that wait for the caller. */
  calls: readonly ToolCall[]
  /** Calls that were already shown as errors. */
  faultyCalls: readonly FaultyCall[]
  execute: ExecuteRun
  step: StepTotals
}

/** @throws the reason of `signal`; earlier results stay in the conversation. */
export async function answerCalls(deps: AnswerDeps, own: ToolAnswers): Promise<void> {
  const outcomes = new Map<string, ToolOutcome>()
  const others = new AbortController()
  const signal = AbortSignal.any([own.signal, others.signal])
  const pending = new Map(own.calls.map((call) => [call.id, settled(call, answer(deps, own, call, signal))]))
  const keep = ({ call, outcome }: Settled) => {
    pending.delete(call.id)
    outcomes.set(call.id, outcome)
    if (outcome.spending) spend(own.progress, own.step, outcome.spending)
  }
  for (const { id, reason } of own.faultyCalls) outcomes.set(id, { result: reason, isError: true })
  try {
    while (pending.size > 0) {
      const next = await Promise.race(pending.values())
      own.signal.throwIfAborted()
      keep(next)
      own.showEvents([{ provider: resultEvent(next.call, next.outcome) }])
    }
  } catch (error) {
    others.abort(error)
    // The signal ends all of them, but their spending counts.
    for (const end of await Promise.allSettled(pending.values())) {
      const spent = end.status === 'fulfilled' ? end.value.outcome.spending : undefined
      if (spent) spend(own.progress, own.step, spent)
    }
    throw error
  } finally {
    const message = resultMessage([...own.faultyCalls, ...own.calls], outcomes)
    if (message.content.length > 0) addOutput(own.progress, own.step, message)
  }
}

interface Settled {
  call: ToolCall
  outcome: ToolOutcome
}

function settled(call: ToolCall, outcome: Promise<ToolOutcome>): Promise<Settled> {
  const done = outcome.then((value) => ({ call, outcome: value }))
  // The first failure ends the loop. This prevents unhandled rejections of later ones.
  done.catch(() => undefined)
  return done
}

async function answer(deps: AnswerDeps, own: ToolAnswers, call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
  const { plan, progress, execute } = own
  const tool = own.toolbox.get(call.name)
  if (tool?.source === 'agentAsTool') {
    return runAgent(deps, { agent: tool, args: call.arguments, plan, progress, execute, signal })
  }
  if (tool?.source === 'serverTool') return runServerTool(deps, { tool: tool.tool, call, scope: plan.tools, signal })
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

/** @throws only the reason of `signal`. */
async function runServerTool(
  deps: Needs<'runs' | 'logger'>,
  { tool, call, scope, signal }: { tool: ServerTool; call: ToolCall; scope: ToolScope; signal: AbortSignal },
): Promise<ToolOutcome> {
  const { toolWaitMs } = deps.runs.settings
  const { conversationUuid, workspaceId, projectId } = scope
  const limit = AbortSignal.timeout(toolWaitMs)
  const both = AbortSignal.any([signal, limit])
  const context = { signal: both, toolCallId: call.id, conversationUuid, workspaceId, projectId }
  try {
    const value = await Promise.race([execute(tool, call, context), rejection(both)])
    return { result: plainJson(value), isError: false }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return timedOut(toolWaitMs)
    deps.logger.warn('run.server-tool-failed', { tool: tool.name, reason: error instanceof Error ? error.name : '' })
    const failure = (error instanceof Error ? error.message : String(error)).slice(0, shownCharacters)
    return { result: failure, isError: true, failure }
  }
}

// Async, so that a synchronous throw becomes a rejection.
async function execute(
  tool: ServerTool,
  call: ToolCall,
  context: Parameters<ServerTool['execute']>[1],
): Promise<unknown> {
  return tool.execute(call.arguments, context)
}

function plainJson(value: unknown): unknown {
  const text = storableJson(value ?? null)
  if (text === undefined) throw new Error('The tool gave no JSON value')
  if (text.length > maxResultCharacters) throw new Error(`The result is larger than ${maxResultCharacters} characters`)
  return JSON.parse(text)
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason)
    signal.addEventListener('abort', fail, { once: true })
    if (signal.aborted) fail()
  })
}
