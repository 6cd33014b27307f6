/** The steps of a run before they are run: rendered by the template engine, or the single step of a chat. */
import { AppError, RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { type HeldFiles, heldFiles } from '../../templates/held-files.ts'
import type { Message } from '../../templates/message.ts'
import type { EvaluationOwner, TemplateStep } from '../../templates/template-engine.ts'
import type { ProjectDefaults, PromptInput, PromptSteps, ToolScope } from '../run.ts'
import { awaitedTools } from '../tools/tool.ts'

interface PlannedStep {
  done: false
  /** The messages that the model receives. */
  input: Message[]
  /** The messages that the step adds to the conversation. */
  added: Message[]
  config: Record<string, unknown>
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

export function planPrompt(deps: Needs<'templates' | 'clock'>, prompt: PromptSteps): RunPlan['nextStep'] {
  const now = deps.clock.now().toISOString()
  const held = heldFiles()
  let state: unknown
  let rendered = 0
  return async (answer, asker) => {
    const isFirst = rendered === 0
    // A prompt without steps has one model step, so the engine is not asked again.
    if (!isFirst && !prompt.usesSteps) return { done: true, added: [] }
    const { source, slots, parameters, workspaceId, apiKeyId } = prompt
    const step = await deps.templates.step(
      {
        source,
        parameters,
        now,
        ...(isFirst ? { slots } : { state }),
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
