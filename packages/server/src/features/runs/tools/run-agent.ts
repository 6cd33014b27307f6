/** Runs another prompt to answer a tool call. A failure becomes an error result. The cost counts for the parent run. */

import { AppError, RunError } from '../../../shared/app-error.ts'
import type { Span } from '../../../shared/tracer.ts'
import type { Needs } from '../../deps.ts'
import { parameterValues } from '../../templates/parameters.ts'
import { assertCompiles } from '../../templates/template-engine.ts'
import { type RunPlan, renderedSteps } from '../steps/run-plan.ts'
import { createRunProgress, type RunCompletion, type RunProgress, type RunWatch } from '../steps/run-progress.ts'
import type { AgentTool, ToolOutcome } from './tool.ts'

/** The type of `executeRun`. Passing this function as a parameter avoids an import cycle. */
export type ExecuteRun = (plan: RunPlan, progress: RunProgress, watch: RunWatch) => Promise<RunCompletion>

export interface AgentCall {
  agent: AgentTool
  args: Record<string, unknown>
  plan: RunPlan
  progress: RunProgress
  execute: ExecuteRun
  signal: AbortSignal
  span: Span | undefined
}

/** Returns an error result after every failure and after an abort, so that the agent's spending always counts. */
export async function runAgent(deps: Needs<'templates' | 'clock' | 'logger'>, call: AgentCall): Promise<ToolOutcome> {
  const { agent, plan, signal, span } = call
  const progress = createRunProgress(call.progress.codec, [], call.progress.budget)
  try {
    const { answer } = await call.execute(planOf(deps, call), progress, { signal, span, showEvents: () => {} })
    const { response } = answer
    const value = response.streamType === 'object' ? response.object : response.text
    return { result: { value, isError: false }, isError: false, spending: progress.spending }
  } catch (error) {
    const isForeseen = error instanceof RunError || error instanceof AppError
    if (!isForeseen && !signal.aborted) {
      const reason = error instanceof Error ? error.name : typeof error
      deps.logger.error('run.agent-failed', { path: agent.path, parent: plan.path, reason, ...span?.ids })
    }
    const value = isForeseen ? error.message : 'The agent failed unexpectedly'
    return { result: { value, isError: true }, isError: true, spending: progress.spending }
  }
}

function planOf(deps: Needs<'clock'>, { agent, args, plan }: AgentCall): RunPlan {
  const { scan, template, path, version, projectDefaults } = agent
  assertCompiles(scan)
  return {
    ...plan,
    path,
    version,
    projectDefaults,
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
