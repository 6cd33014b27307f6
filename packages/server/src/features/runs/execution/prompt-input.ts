/** All that a run of a prompt starts with, as JSON: a queued run keeps it, so that it starts later as it would have at once. */
import type { Needs } from '../../deps.ts'
import { type PromptSteps, planPrompt } from './plan-steps.ts'
import type { RunPlan } from './run-plan.ts'
import { awaitedTools, type ToolScope } from './tools/tool-scope.ts'

export interface PromptInput extends PromptSteps {
  /** `awaited` are the names that the caller sent, whatever the mode. */
  tools: Omit<ToolScope, 'runUuid'>
  projectDefaults: RunPlan['projectDefaults']
  /** The caller declares a published SDK. */
  declaredSdk: boolean
}

/** @param mode `stream` false asks providers for one plain answer, and waits for no caller. */
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
