/** Finds what a step runs on: its checked configuration, provider, model and driver. Whatever is missing fails here. */
import type { Needs } from '../../deps.ts'
import { chooseModel, chooseProvider } from '../../providers/choose-provider.ts'
import { listProviders } from '../../providers/list-providers.ts'
import type { ModelDriver, ResolvedProvider } from '../../providers/model-driver.ts'
import { type PromptConfig, readPromptConfig } from '../../templates/prompt-config.ts'
import type { RunPlan } from './run-plan.ts'
import { gatherTools, type ToolboxDeps } from './tools/gather-tools.ts'
import type { Toolbox } from './tools/step-tool.ts'

export type SetUpDeps = ToolboxDeps & Needs<'environmentProviders' | 'secrets' | 'clock' | 'log' | 'models'>

export interface StepSetUp {
  prompt: PromptConfig
  provider: ResolvedProvider
  model: string
  driver: ModelDriver
  toolbox: Toolbox
  /** As `provider-started` shows it. */
  config: Record<string, unknown>
}

/** @throws RunError for a configuration, provider, model or feature that keeps the step from running. */
export async function setUpStep(deps: SetUpDeps, plan: RunPlan, written: Record<string, unknown>): Promise<StepSetUp> {
  const prompt = readOnce(deps, plan, written)
  const entries = await listProviders(deps, plan.workspaceId)
  const { environmentProviders, models } = deps
  const entry = chooseProvider(entries, {
    path: plan.path,
    named: prompt.provider,
    projectDefault: plan.projectDefaults.provider,
    serverDefault: environmentProviders.defaultProvider,
  })
  const model = chooseModel(entry, {
    path: plan.path,
    named: prompt.model,
    projectDefault: plan.projectDefaults.model,
    serverDefault: environmentProviders.defaultModel,
  })
  const provider = entry.open()
  const toolbox = await gatherTools(deps, plan.tools, prompt)
  const config = { ...written, provider: provider.name, model }
  return { prompt, provider, model, driver: models.driverFor(provider), toolbox, config }
}

// A prompt that is joined here hands out the same configuration with every run.
const read = new WeakMap<Record<string, unknown>, { path: string; prompt: PromptConfig }>()

function readOnce({ serverTools }: SetUpDeps, { path }: RunPlan, written: Record<string, unknown>): PromptConfig {
  const known = read.get(written)
  if (known?.path === path) return known.prompt
  const prompt = readPromptConfig(written, path, [...serverTools.keys()])
  read.set(written, { path, prompt })
  return prompt
}
