/** Steps of a prompt, rendered one by one, and the single step of a chat. The caller's messages join the first step. */
import { AppError, RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { type HeldFiles, heldFiles } from '../../templates/held-files.ts'
import type { Message } from '../../templates/message.ts'
import type { TemplateSource, TemplateStep } from '../../templates/template-engine.ts'
import type { RunPlan } from './run-plan.ts'

export interface PromptSteps {
  workspaceId: number
  /** Absent in runs that an older release queued. */
  apiKeyId?: number | undefined
  source: TemplateSource
  parameters: Record<string, unknown>
  usesSteps: boolean
  /** The configuration where no step is rendered. */
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
    // Without steps there is one model call: asking the engine again would only tell that nothing is left.
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
  // The input holds what was added, and is looked at first: what is beyond measure is refused before anything is built.
  return { ...step, input: held.show(step.input), added: held.show(step.added) }
}

/**
 * The plan with its first step rendered, before anything of the run is stored: an overloaded server refuses it with 503.
 * @throws AppError ServiceUnavailableError; every other failure stays that of the run.
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

/** One step on messages that already stand in the conversation. */
export function planChat(conversation: readonly Message[], config: Record<string, unknown>): RunPlan['nextStep'] {
  return async (answer) =>
    answer ? { done: true, added: [] } : { done: false, input: [...conversation], added: [], config }
}
