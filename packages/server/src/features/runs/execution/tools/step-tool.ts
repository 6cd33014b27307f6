/** The tools of one step: what the model is told of each, and who answers its calls. */
import type { ToolDefinition } from '../../../providers/model-driver.ts'
import type { TemplateScan, TemplateSource } from '../../../templates/template-engine.ts'
import type { RunSpending } from '../../run.ts'
import type { ProjectDefaults } from '../run-plan.ts'

/** The caller's: a call either waits for its result, or ends the run with the request. */
interface ClientTool {
  source: 'client'
  definition: ToolDefinition
  isAwaited: boolean
}

/** Another prompt of the same version. */
export interface AgentTool {
  source: 'agentAsTool'
  definition: ToolDefinition
  path: string
  template: TemplateSource
  scan: TemplateScan
  /** Of its project: a chat keeps those of its own prompt only, within the configuration that it began with. */
  projectDefaults: ProjectDefaults
}

export interface OperatorTool {
  source: 'serverTool'
  definition: ToolDefinition
  tool: ServerTool
}

export type StepTool = ClientTool | AgentTool | OperatorTool

/** By the name that the model uses. */
export type Toolbox = ReadonlyMap<string, StepTool>

/** What a call came to. */
export interface ToolOutcome {
  /** What the model gets. */
  result: unknown
  isError: boolean
  /** Why there is no result, where nobody gave one. */
  failure?: string
  /** What answering cost. */
  spending?: RunSpending
}

/** What a tool of the operator is told about its call. */
export interface ServerToolContext {
  /** Aborted when the run ends or the tool has taken too long. */
  signal: AbortSignal
  toolCallId: string
  conversationUuid: string
  workspaceId: number
  projectId: number
}

/** A tool that the operator's module supplies. */
export interface ServerTool {
  /** As prompts list it, e.g. `latitude/search`. */
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
  execute(args: Record<string, unknown>, context: ServerToolContext): unknown
}

/** By the name in prompts. */
export type ServerTools = ReadonlyMap<string, ServerTool>
