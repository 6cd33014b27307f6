/** Gathers a step's tools: the caller's, the operator's, and other prompts (agents). Their names must be unique. */

import { isToolName, type PromptConfig, toolNames } from '@stet/template/config'
import { defined } from '@stet/template/defined'
import { AppError, RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { normalizeDocumentPath } from '../../documents/document-path.ts'
import { preparePrompt } from '../../documents/read-document.ts'
import { argumentsOf } from '../../templates/parameters.ts'
import { configError } from '../../templates/prompt-config.ts'
import type { ToolScope } from '../run.ts'
import type { AgentTool, StepTool, Toolbox } from './tool.ts'

const maxNesting = 5
const maxNameLength = 64

export type ToolboxDeps = Needs<'runs' | 'stores' | 'liveCache' | 'templates'>

/** @throws RunError `document_config_error`; `unsupported_feature_error` for a caller's tool in an agent. */
export async function gatherTools(
  deps: ToolboxDeps,
  scope: ToolScope,
  prompt: PromptConfig,
  signal: AbortSignal,
): Promise<Toolbox> {
  const [path = ''] = scope.lineage.slice(-1)
  const clientTools = prompt.tools.map((definition): StepTool => {
    const { name: feature } = definition
    if (scope.runUuid === null) {
      const message = `Tool '${feature}' is the caller's: a prompt used as a tool has none`
      throw new RunError('unsupported_feature_error', message, { details: { feature } })
    }
    const { awaited, canned } = scope
    return { source: 'client', definition, isAwaited: !canned && awaited.includes(feature), canned }
  })
  const serverTools = prompt.serverTools.flatMap((name): StepTool[] => {
    const tool = deps.runs.serverTools.get(name)
    if (!tool) return []
    const { description, parameters } = tool
    const definition = defined({ name: modelName(name), description, parameters })
    return [{ source: 'serverTool', definition, tool }]
  })
  if (prompt.agents.length > 0 && scope.lineage.length > maxNesting) {
    throw configError(path, 'agents', `Agents may be nested ${maxNesting} deep`)
  }
  const agents = await Promise.all(
    prompt.agents.map((written) => loadAgent(deps, scope, { written, from: path, signal })),
  )
  const toolbox = new Map<string, StepTool>()
  for (const tool of [...clientTools, ...serverTools, ...agents]) {
    const { name } = tool.definition
    if (toolbox.has(name)) throw configError(path, 'tools', `Two tools have the name '${name}'`)
    toolbox.set(name, tool)
  }
  return toolbox
}

// Models accept only letters, digits, underscores and dashes in tool names.
function modelName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, maxNameLength)
}

/** @throws RunError `document_config_error` for an unknown path, an invalid tool name, or a cycle. */
async function loadAgent(
  deps: ToolboxDeps,
  scope: ToolScope,
  { written, from, signal }: { written: string; from: string; signal: AbortSignal },
): Promise<AgentTool> {
  const path = agentPath(written, from)
  if (path !== undefined && scope.lineage.includes(path)) {
    const circle = [...scope.lineage, path].join(' -> ')
    throw configError(from, 'agents', `A prompt cannot reach itself through agents: ${circle}`)
  }
  const prepared = path === undefined ? undefined : await findPrompt(deps, scope, path, signal)
  if (path === undefined || !prepared)
    throw configError(from, 'agents', `There is no prompt '${written}' to use as a tool`)
  const { scan, source, project } = prepared
  const { name: given, description } = scan.config
  const name = typeof given === 'string' && given !== '' ? given : modelName(`lat_agent_${path}`)
  if (!isToolName(name)) throw configError(path, 'name', `The name of a prompt that is used as a tool is ${toolNames}`)
  const definition = {
    name,
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    parameters: argumentsOf(scan),
  }
  const projectDefaults = { provider: project.defaultProvider, model: project.defaultModel }
  return {
    source: 'agentAsTool',
    definition,
    path,
    template: source,
    scan,
    version: prepared.named,
    projectDefaults,
  }
}

async function findPrompt(deps: ToolboxDeps, scope: ToolScope, path: string, signal: AbortSignal) {
  const { workspaceId, projectId, versionUuid } = scope
  // A key that may run the prompt may also run its agents, so the project restriction is not checked again.
  const reader = { workspaceId, projectId: null }
  try {
    const address = { projectId, versionRef: versionUuid, path }
    return await preparePrompt(deps, { caller: reader, ...address, signal, isRun: true })
  } catch (error) {
    if (error instanceof AppError && error.code === 'NotFoundError') return undefined
    throw error
  }
}

/** Resolves a path written in the document `from`. Returns undefined if the path is empty or leaves the root. */
export function agentPath(written: string, from: string): string | undefined {
  const segments = written.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const segment of written.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return undefined
  }
  const resolved = segments.join('/').replace(/\.promptl$/, '')
  return resolved === '' ? undefined : normalizeDocumentPath(resolved)
}
