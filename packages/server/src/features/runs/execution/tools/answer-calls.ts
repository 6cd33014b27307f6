/** Answers the tool calls of one model turn, all at once: one result each, shown as it comes, one message for the model. */
import type { Needs } from '../../../deps.ts'
import type { Message, MessagePart, ToolCall } from '../../../templates/message.ts'
import type { RunSpending } from '../../run.ts'
import type { ProviderEvent } from '../../run-event.ts'
import type { FaultyCall } from '../model-answer.ts'
import type { RunPlan } from '../run-plan.ts'
import type { RunProgress } from '../run-progress.ts'
import { type ExecuteRun, type RunWatch, runAgent } from './run-agent.ts'
import { runServerTool } from './run-server-tool.ts'
import type { ShowDeps, ShownCalls } from './shown-calls.ts'
import type { Toolbox, ToolOutcome } from './step-tool.ts'

export type AnswerDeps = ShowDeps & Needs<'templates' | 'log'>

export interface ToolTurn extends RunWatch {
  plan: RunPlan
  progress: RunProgress
  toolbox: Toolbox
  shown: ShownCalls
  /** Those that the run answers itself or waits for. */
  calls: readonly ToolCall[]
  /** Those that cannot be made; shown already. */
  faultyCalls: readonly FaultyCall[]
  execute: ExecuteRun
  /** Adds a message to the conversation. */
  append(message: Message): void
  spend(spending: RunSpending): void
}

/** @throws the reason of `signal`; the results that came before it stay in the conversation. */
export async function answerCalls(deps: AnswerDeps, turn: ToolTurn): Promise<void> {
  const outcomes = new Map<string, ToolOutcome>()
  const others = new AbortController()
  const signal = AbortSignal.any([turn.signal, others.signal])
  const pending = new Map(turn.calls.map((call) => [call.id, settled(call, answer(deps, turn, call, signal))]))
  const keep = ({ call, outcome }: Settled) => {
    pending.delete(call.id)
    outcomes.set(call.id, outcome)
    if (outcome.spending) turn.spend(outcome.spending)
  }
  for (const { id, reason } of turn.faultyCalls) outcomes.set(id, { result: reason, isError: true })
  try {
    while (pending.size > 0) {
      const next = await Promise.race(pending.values())
      turn.signal.throwIfAborted()
      keep(next)
      turn.showEvents([{ provider: resultEvent(next.call, next.outcome) }])
    }
  } catch (error) {
    others.abort(error)
    // All of them end with the signal, and what they have spent counts.
    for (const end of await Promise.allSettled(pending.values())) {
      if (end.status === 'fulfilled' && end.value.outcome.spending) turn.spend(end.value.outcome.spending)
    }
    throw error
  } finally {
    const message = resultMessage([...turn.faultyCalls, ...turn.calls], outcomes)
    if (message.content.length > 0) turn.append(message)
  }
}

interface Settled {
  call: ToolCall
  outcome: ToolOutcome
}

function settled(call: ToolCall, outcome: Promise<ToolOutcome>): Promise<Settled> {
  const done = outcome.then((value) => ({ call, outcome: value }))
  // The first failure ends the turn; the others have nobody to tell.
  done.catch(() => undefined)
  return done
}

async function answer(deps: AnswerDeps, turn: ToolTurn, call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
  const { plan, progress, execute } = turn
  const tool = turn.toolbox.get(call.name)
  if (tool?.source === 'agentAsTool') {
    return runAgent(deps, { agent: tool, args: call.arguments, plan, progress, execute, signal })
  }
  if (tool?.source === 'serverTool') return runServerTool(deps, { tool: tool.tool, call, scope: plan.tools, signal })
  return turn.shown.answerOf(call.id, signal)
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
