/** Puts together the tools of a step: the caller's, the operator's and other prompts. No two may share a name. */
import { RunError } from '../../../../shared/app-error.ts'
import type { Needs } from '../../../deps.ts'
import type { PromptConfig } from '../../../templates/prompt-config.ts'
import { configError } from '../../../templates/prompt-tools.ts'
import { type AgentDeps, loadAgents } from './load-agents.ts'
import type { StepTool, Toolbox } from './step-tool.ts'
import type { ToolScope } from './tool-scope.ts'

export type ToolboxDeps = AgentDeps & Needs<'serverTools'>

/** @throws RunError `document_config_error`; `unsupported_feature_error` for a tool that nobody could answer. */
export async function gatherTools(deps: ToolboxDeps, scope: ToolScope, prompt: PromptConfig): Promise<Toolbox> {
  const [path = ''] = scope.lineage.slice(-1)
  const clientTools = prompt.tools.map((definition): StepTool => {
    if (scope.runUuid === null) throw unanswerable(definition.name)
    return { source: 'client', definition, isAwaited: scope.awaited.includes(definition.name) }
  })
  const serverTools = prompt.serverTools.flatMap((name): StepTool[] => {
    const tool = deps.serverTools.get(name)
    if (!tool) return []
    const { description, parameters } = tool
    const definition = { name: modelName(name), ...(description !== undefined && { description }), parameters }
    return [{ source: 'serverTool', definition, tool }]
  })
  const agents = await loadAgents(deps, scope, prompt.agents)
  const toolbox = new Map<string, StepTool>()
  for (const tool of [...clientTools, ...serverTools, ...agents]) {
    const { name } = tool.definition
    if (toolbox.has(name)) throw configError(path, 'tools', `Two tools have the name '${name}'`)
    toolbox.set(name, tool)
  }
  return toolbox
}

function unanswerable(name: string): RunError {
  return new RunError('unsupported_feature_error', `Tool '${name}' is the caller's: a prompt used as a tool has none`, {
    details: { feature: name },
  })
}

// Models take letters, digits, underscores and dashes only.
function modelName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}
