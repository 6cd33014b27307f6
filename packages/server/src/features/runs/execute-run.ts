/** Runs a prompt, step by step: shows its events from chain-started to just before the terminal event. */
import { AppError, RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { type HeldFiles, heldFiles } from '../templates/held-files.ts'
import type { Message, ToolCall } from '../templates/message.ts'
import type { EvaluationOwner, TemplateSource, TemplateStep } from '../templates/template-engine.ts'
import type { StepResponse } from './run.ts'
import { latitude, type RunProgress, runStep, type SetUpDeps, type StepDeps, setUpStep } from './run-step.ts'
import type { ExecuteRun, RunWatch } from './tools/run-agent.ts'
import { awaitedTools, type ToolScope } from './tools/tool.ts'

export interface RunCompletion {
  response: StepResponse
  toolRequests: ToolCall[]
}

export type ExecuteDeps = SetUpDeps & StepDeps

/** @throws RunError for every documented failure, the reason of `watch.signal` after an abort. */
export async function executeRun(
  deps: ExecuteDeps,
  plan: RunPlan,
  progress: RunProgress,
  watch: RunWatch,
): Promise<RunCompletion> {
  const { showEvents } = watch
  showEvents([latitude(progress, { type: 'chain-started' })])
  const execute: ExecuteRun = (ofAgent, itsProgress, its) => executeRun(deps, ofAgent, itsProgress, its)
  let answer: Message[] | undefined
  for (;;) {
    const step = await plan.nextStep(answer, { signal: watch.signal, isRun: true })
    if (step.done) {
      progress.list.append(step.added)
      if (!progress.response) throw new RunError('unknown_error', 'The prompt produced no messages')
      return { response: progress.response, toolRequests: [] }
    }
    const setUp = await setUpStep(deps, plan, step.config)
    progress.list.append(step.added)
    const outcome = await runStep(deps, { plan, setUp, progress, input: step.input, execute, ...watch })
    if (outcome.toolRequests.length > 0) {
      const { response, toolRequests } = outcome
      if (!plan.declaredSdk) showEvents([latitude(progress, { type: 'tools-requested', tools: toolRequests })])
      return { response, toolRequests }
    }
    answer = outcome.output
  }
}

interface PlannedStep {
  done: false
  /** The messages that the model receives. */
  input: Message[]
  /** The messages that the step adds to the conversation. */
  added: Message[]
  config: Record<string, unknown>
}

/** Used where a prompt names no provider or model. */
export interface ProjectDefaults {
  provider: string | null
  model: string | null
}

export type StepAsker = Pick<EvaluationOwner, 'signal' | 'isRun'>

export interface RunPlan {
  workspaceId: number
  apiKeyId?: number | undefined
  /** The document, for errors. */
  path: string
  tools: ToolScope
  projectDefaults: ProjectDefaults
  /** The next step, given the messages of the previous one. Each instance serves one run. */
  nextStep(answer: Message[] | undefined, asker: StepAsker): Promise<PlannedStep | { done: true; added: Message[] }>
  /** False requests plain responses from providers. */
  stream: boolean
  /** The caller is a legacy client. */
  declaredSdk: boolean
}

export interface PromptInput extends PromptSteps {
  /** `awaited` has the names that the caller sent, in every mode. */
  tools: Omit<ToolScope, 'runUuid'>
  projectDefaults: RunPlan['projectDefaults']
  /** The caller is a legacy client. */
  declaredSdk: boolean
}

/** @param mode without `stream`, providers send plain responses and no tool call waits for the caller. */
export function planOf(
  deps: Needs<'templates' | 'clock'>,
  input: PromptInput,
  mode: { runUuid: string; stream: boolean },
): RunPlan {
  const { workspaceId, apiKeyId, source, projectDefaults, declaredSdk } = input
  const { runUuid, stream } = mode
  const awaited = awaitedTools(stream ? 'stream' : 'json', input.tools.awaited)
  return {
    workspaceId,
    apiKeyId,
    path: source.path,
    tools: { ...input.tools, runUuid, awaited },
    projectDefaults,
    nextStep: planPrompt(deps, input),
    stream,
    declaredSdk,
  }
}

export interface PromptSteps {
  workspaceId: number
  /** Absent in runs that an older release has queued. */
  apiKeyId?: number | undefined
  source: TemplateSource
  parameters: Record<string, unknown>
  usesSteps: boolean
  /** The configuration if no step is rendered. */
  config: Record<string, unknown>
  /** The caller's, appended after the compiled prompt. */
  messages: Message[]
}

export function planPrompt(deps: Needs<'templates' | 'clock'>, prompt: PromptSteps): RunPlan['nextStep'] {
  const now = deps.clock.now().toISOString()
  const held = heldFiles()
  let state: unknown
  let rendered = 0
  return async (answer, asker) => {
    const isFirst = rendered === 0
    // A prompt without steps has one model step, so the engine is not asked again.
    if (!isFirst && !prompt.usesSteps) return { done: true, added: [] }
    const { source, parameters, workspaceId, apiKeyId } = prompt
    const step = await deps.templates.step(
      {
        source,
        parameters,
        now,
        ...(isFirst ? {} : { state }),
        ...(answer && { answer: held.hide(answer) }),
      },
      { workspaceId, apiKeyId, ...asker },
    )
    rendered += 1
    if (!step.done) state = step.state
    if (!isFirst) return shownStep(step, held)
    const compiled = step.done ? { input: step.added, config: prompt.config } : step
    const input = [...compiled.input, ...prompt.messages]
    if (input.length === 0) throw new RunError('unknown_error', 'The prompt produced no messages')
    return { done: false, input, added: [...step.added, ...prompt.messages], config: compiled.config }
  }
}

function shownStep(step: TemplateStep, held: HeldFiles): TemplateStep {
  if (step.done) return { ...step, added: held.show(step.added) }
  // The input includes the added messages, so its size is checked before anything is built.
  return { ...step, input: held.show(step.input), added: held.show(step.added) }
}

/**
 * Renders the first step before the run is stored, so that an overloaded server can refuse the run with 503.
 * @throws AppError ServiceUnavailableError. Every other failure is an error of the run.
 */
export async function renderAhead(plan: RunPlan, signal: AbortSignal | undefined): Promise<RunPlan> {
  const first = plan.nextStep(undefined, { signal, isRun: false })
  await first.catch((error: unknown) => {
    if (error instanceof AppError) throw error
  })
  let isFirst = true
  return {
    ...plan,
    nextStep(answer, asker) {
      if (!isFirst) return plan.nextStep(answer, asker)
      isFirst = false
      return first
    },
  }
}

/** The single step of a chat, on the messages of the conversation. */
export function planChat(conversation: readonly Message[], config: Record<string, unknown>): RunPlan['nextStep'] {
  return async (answer) =>
    answer ? { done: true, added: [] } : { done: false, input: [...conversation], added: [], config }
}
