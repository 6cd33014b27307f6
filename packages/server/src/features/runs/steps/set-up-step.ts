import type { PromptConfig } from '@stet/template/config'
import type { Needs } from '../../deps.ts'
import { listProviders } from '../../providers/list-providers.ts'
import type { ResolvedProvider } from '../../providers/ports.ts'
import { chooseModel, chooseProvider, resolveProvider } from '../../providers/resolve-provider.ts'
import { readPromptConfig } from '../../templates/prompt-config.ts'
import { gatherTools, type ToolboxDeps } from '../tools/gather-tools.ts'
import type { Toolbox } from '../tools/tool.ts'
import type { RunPlan } from './run-plan.ts'

export type SetUpDeps = ToolboxDeps & Needs<'providers' | 'secrets' | 'clock' | 'logger'>

export interface StepSetUp {
  prompt: PromptConfig
  provider: ResolvedProvider
  model: string
  toolbox: Toolbox
  /** The configuration that `provider-started` shows. */
  config: Record<string, unknown>
}

/** @throws RunError if the configuration, provider, model or a tool is invalid or missing. */
export async function setUpStep(
  deps: SetUpDeps,
  plan: RunPlan,
  written: Record<string, unknown>,
  signal: AbortSignal,
): Promise<StepSetUp> {
  const prompt = readPromptConfig(written, plan.path, [...deps.runs.serverTools.keys()])
  const entries = await listProviders(deps, plan.tools.workspaceId)
  const { environment } = deps.providers
  const entry = chooseProvider(entries, {
    path: plan.path,
    named: prompt.provider,
    projectDefault: plan.projectDefaults.provider,
    serverDefault: environment.defaultProvider,
  })
  const model = chooseModel(entry, {
    path: plan.path,
    named: prompt.model,
    projectDefault: plan.projectDefaults.model,
    serverDefault: environment.defaultModel,
  })
  const provider = resolveProvider(deps, entry)
  const toolbox = await gatherTools(deps, plan.tools, prompt, signal)
  const config = { ...written, provider: provider.name, model }
  return { prompt, provider, model, toolbox, config }
}
