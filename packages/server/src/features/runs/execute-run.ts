/** Executes a run: its steps, the model calls of each step, and their tool calls. An agent is a run within a tool call. */
import type { Message, MessagePart, ProviderEvent, ToolCall } from '@stet/contract/vocabulary'
import { AppError, RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { parameterValues } from '../templates/parameters.ts'
import { assertCompiles } from '../templates/template-engine.ts'
import {
  addOutput,
  append,
  closeSpan,
  createRunProgress,
  latitude,
  nothingSpent,
  openSpan,
  type RunCompletion,
  type RunProgress,
  type RunWatch,
  type StepTotals,
  spend,
} from './events/run-progress.ts'
import type { EncodedResponse } from './run.ts'
import { callModel, type FaultyCall } from './steps/call-model.ts'
import { nextStep, type RunPlan, renderedSteps, type StepSetUp } from './steps/run-plan.ts'
import { assertMayCall, respond, type SetUpDeps, setUpStep } from './steps/run-step.ts'
import { answerOf, endWait, isAwaited, runServerTool, type ShownCalls } from './tools/answer-calls.ts'
import type { AgentTool, StepTool, ToolOutcome } from './tools/tool.ts'

export type ExecuteDeps = SetUpDeps

/** @throws RunError for every documented failure; the reason of `watch.signal` after an abort. */
export async function executeRun(
  deps: ExecuteDeps,
  plan: RunPlan,
  progress: RunProgress,
  watch: RunWatch,
): Promise<RunCompletion> {
  const { showEvents } = watch
  showEvents([latitude(progress, { type: 'chain-started' })])
  let answer: Message[] | undefined
  for (;;) {
    const step = await nextStep(deps, plan, answer, { signal: watch.signal, span: watch.span, isRun: true })
    if (step.done) {
      append(progress, step.added)
      if (!progress.answer) throw new RunError('unknown_error', 'The prompt produced no messages')
      return { answer: progress.answer, toolRequests: [] }
    }
    const setUp = await setUpStep(deps, plan, step.config, watch.signal)
    append(progress, step.added)
    // The caller's messages are the last ones of a run's first step, and of a chat.
    if (plan.given > 0) progress.facts.given ??= { from: progress.messages.length - plan.given, count: plan.given }
    const outcome = await runStep(deps, { plan, setUp, progress, input: step.input, ...watch })
    if (outcome.toolRequests.length > 0) {
      const { toolRequests } = outcome
      if (plan.omitsToolsRequested !== true)
        showEvents([latitude(progress, { type: 'tools-requested', tools: toolRequests })])
      return { answer: outcome.answer, toolRequests }
    }
    answer = outcome.output
  }
}

interface StepInput extends RunWatch {
  plan: RunPlan
  setUp: StepSetUp
  progress: RunProgress
  input: Message[]
}

interface StepOutcome {
  answer: EncodedResponse
  output: Message[]
  toolRequests: ToolCall[]
}

/** Repeats model calls until one has no tool calls, or has a tool request for the caller. */
async function runStep(deps: ExecuteDeps, { plan, setUp, progress, input, ...watch }: StepInput): Promise<StepOutcome> {
  const { toolbox } = setUp
  const { showEvents } = watch
  const step: StepTotals = { output: [], spending: nothingSpent }
  const { facts, span: parent } = progress
  progress.span = openSpan(facts, { kind: 'step', name: plan.path, parent, at: deps.clock.now() })
  showEvents([
    latitude(progress, { type: 'step-started' }),
    latitude(progress, { type: 'provider-started', config: setUp.config }),
  ])
  for (let callNumber = 0; ; callNumber += 1) {
    assertMayCall(progress, setUp, callNumber)
    progress.facts.modelCalls += 1
    showEvents([{ provider: { type: 'start-step', step: callNumber + 1 } }])
    const shown: ShownCalls = { scope: plan.tools, toolbox, progress, waiting: new Map() }
    try {
      const messages = [...input, ...step.output]
      const answer = await callModel(deps, { setUp, plan, progress, messages, shown, callNumber, ...watch })
      const { usage, price, faultyCalls } = answer
      spend(progress, step, { tokenUsage: usage, cost: price.cost, costUnknown: !price.known })
      addOutput(progress, step, answer.message)
      const requests = answer.calls.filter((call) => isRequest(toolbox.get(call.name), call))
      const calls = answer.calls.filter((call) => !requests.includes(call))
      if (calls.length > 0 || faultyCalls.length > 0) {
        // Fails before the tools run if no model call is left for the results.
        if (requests.length === 0) assertMayCall(progress, setUp, callNumber + 1)
        await answerCalls(deps, { plan, setUp, progress, shown, calls, faultyCalls, ...watch, step })
        if (requests.length === 0) continue
      }
      const encoded = await respond(deps, { plan, setUp, progress, input, step, answer, requests, ...watch })
      closeSpan(facts, progress.span, { status: 'ok', at: deps.clock.now() })
      progress.span = parent
      return { answer: encoded, output: step.output, toolRequests: requests }
    } finally {
      for (const id of [...shown.waiting.keys()]) endWait(shown, id)
    }
  }
}

/** True if the call ends the run. The caller continues with a chat. Ask once: a canned result is taken. */
function isRequest(tool: StepTool | undefined, call: ToolCall): boolean {
  return tool?.source === 'client' && !isAwaited(tool) && !tool.canned?.take(call)
}

interface StepCalls extends RunWatch {
  plan: RunPlan
  setUp: StepSetUp
  progress: RunProgress
  shown: ShownCalls
  /** Calls that the server answers, or that wait for the caller's result. */
  calls: readonly ToolCall[]
  /** Calls that were already shown as errors. */
  faultyCalls: readonly FaultyCall[]
  step: StepTotals
}

/**
 * Answers a model call's tool calls in parallel. Shows each result as it arrives; one message contains all results.
 * @throws the reason of `own.signal`, or the first error of a call. Earlier results stay in the conversation.
 */
async function answerCalls(deps: ExecuteDeps, own: StepCalls): Promise<void> {
  const { progress, step, faultyCalls, calls, showEvents } = own
  const outcomes = new Map<string, ToolOutcome>()
  const others = new AbortController()
  const signal = AbortSignal.any([own.signal, others.signal])
  for (const { id, reason } of faultyCalls) outcomes.set(id, { result: reason, isError: true })
  const pending = calls.map(async (call) => {
    const outcome = await tracedAnswer(deps, own, call, signal)
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
  deps: ExecuteDeps,
  own: StepCalls,
  call: ToolCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const span = own.span?.child(`execute_tool ${call.name}`, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': call.id,
    'stet.tool.source': own.setUp.toolbox.get(call.name)?.source,
  })
  span?.setContent(() => ({ 'gen_ai.tool.call.arguments': JSON.stringify(call.arguments) }))
  const { facts, span: parent } = own.progress
  const kind = isAwaited(own.setUp.toolbox.get(call.name)) ? 'wait' : 'tool'
  const place = openSpan(facts, { kind, name: call.name, parent, at: deps.clock.now() })
  try {
    const outcome = await answer(deps, { ...own, span }, { call, place, signal })
    span?.setContent(() => ({ 'gen_ai.tool.call.result': JSON.stringify(outcome.result) }))
    span?.end(outcome.isError ? 'tool_error' : undefined)
    closeSpan(facts, place, { status: outcome.isError ? 'error' : 'ok', at: deps.clock.now() })
    return outcome
  } catch (error) {
    span?.end('aborted')
    closeSpan(facts, place, { status: 'stopped', at: deps.clock.now() })
    throw error
  }
}

interface PlacedCall {
  call: ToolCall
  /** The index of the call's span. */
  place: number | null
  signal: AbortSignal
}

async function answer(deps: ExecuteDeps, own: StepCalls, { call, place, signal }: PlacedCall): Promise<ToolOutcome> {
  const tool = own.setUp.toolbox.get(call.name)
  if (tool?.source === 'agentAsTool') return runAgent(deps, own, { agent: tool, args: call.arguments, place, signal })
  if (tool?.source === 'serverTool') {
    return runServerTool(deps, { tool: tool.tool, call, scope: own.plan.tools, signal, span: own.span })
  }
  if (tool?.canned) return tool.canned.outcomeOf(call.id)
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

interface AgentCall extends Pick<PlacedCall, 'place' | 'signal'> {
  agent: AgentTool
  args: Record<string, unknown>
}

/**
 * Runs another prompt to answer a tool call. Its spending counts for the parent run, even if the run was aborted. Returns
 * an error result after every failure and after an abort.
 */
async function runAgent(deps: ExecuteDeps, parent: StepCalls, call: AgentCall): Promise<ToolOutcome> {
  const { plan, span } = parent
  const { agent, signal, place } = call
  const { codec, facts, agents } = parent.progress
  const progress = createRunProgress(codec, [], { facts, span: place })
  agents.add(progress)
  try {
    const { answer } = await executeRun(deps, agentPlan(deps, plan, call), progress, {
      signal,
      span,
      showEvents: () => {},
    })
    const { response } = answer
    const value = response.streamType === 'object' ? response.object : response.text
    return { result: { value, isError: false }, isError: false }
  } catch (error) {
    // The step under way, if there is one. Otherwise the span of the call, which ends now.
    closeSpan(facts, progress.span, { status: signal.aborted ? 'stopped' : 'error', at: deps.clock.now() })
    const isForeseen = error instanceof RunError || error instanceof AppError
    if (!isForeseen && !signal.aborted) {
      const reason = error instanceof Error ? error.name : typeof error
      deps.logger.error('run.agent-failed', { path: agent.path, parent: plan.path, reason, ...span?.ids })
    }
    const value = isForeseen ? error.message : 'The agent failed unexpectedly'
    return { result: { value, isError: true }, isError: true }
  } finally {
    agents.delete(progress)
    spend(parent.progress, parent.step, progress.spending)
  }
}

function agentPlan(deps: Needs<'clock'>, plan: RunPlan, { agent, args }: AgentCall): RunPlan {
  const { scan, template, path, version, projectDefaults } = agent
  assertCompiles(scan)
  return {
    ...plan,
    path,
    version,
    projectDefaults,
    callerSettings: undefined,
    given: 0,
    tools: { ...plan.tools, runUuid: null, awaited: [], lineage: [...plan.tools.lineage, path] },
    steps: renderedSteps(deps, {
      workspaceId: plan.tools.workspaceId,
      apiKeyId: plan.apiKeyId,
      source: template,
      parameters: parameterValues(scan.config, args),
      usesSteps: scan.usesSteps,
      config: scan.config,
      messages: [],
    }),
  }
}
