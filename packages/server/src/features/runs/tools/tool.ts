/** The tools of a run: their definitions, their origins, and the ports for tool calls that wait for the caller. */

import type { ToolDefinition } from '../../providers/model-driver.ts'
import type { TemplateScan, TemplateSource } from '../../templates/template-engine.ts'
import type { ProjectDefaults, RunSpending } from '../run.ts'

/** A tool of the caller. Its call either waits for a result or ends the run with a tool request. */
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
  /** The defaults of the agent's project. A chat only has those of its own prompt, in its stored configuration. */
  projectDefaults: ProjectDefaults
}

export interface OperatorTool {
  source: 'serverTool'
  definition: ToolDefinition
  tool: ServerTool
}

export type StepTool = ClientTool | AgentTool | OperatorTool

/** Keyed by the name that the model sees. */
export type Toolbox = ReadonlyMap<string, StepTool>

export interface ToolOutcome {
  /** For the model. */
  result: unknown
  isError: boolean
  /** The reason, if there is no result. */
  failure?: string
  /** The cost of the answer. */
  spending?: RunSpending
}

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
  /** The name in prompts, e.g. `latitude/search`. */
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
  execute(args: Record<string, unknown>, context: ServerToolContext): unknown
}

/** Keyed by the name in prompts. */
export type ServerTools = ReadonlyMap<string, ServerTool>

export type ToolCallState = 'waiting' | 'answered' | 'closed'

export interface NewToolCall {
  /** Unique on the server. */
  id: string
  workspaceId: number
  projectId: number
  runUuid: string
  /** The run waits for the caller's result. Otherwise results are not accepted. */
  isWaiting: boolean
  createdAt: Date
}

export interface ToolAnswer {
  result: unknown
  isError: boolean
}

export interface GivenAnswer extends ToolAnswer {
  id: string
  workspaceId: number
  answeredAt: Date
}

/** Every write resolves after its commit. */
export interface ToolCallStore {
  issue(calls: readonly NewToolCall[]): Promise<void>
  /** By compare-and-set. False if the call is unknown, answered or closed, or its run has ended. */
  answer(answer: GivenAnswer): Promise<boolean>
  /** By compare-and-set. False if an answer came first; later ones are refused. */
  close(call: { id: string; workspaceId: number }): Promise<boolean>
  findAnswer(workspaceId: number, id: string): Promise<ToolAnswer | null>
  /** The project of a tool call of the workspace. */
  findProject(workspaceId: number, id: string): Promise<number | null>
  /**
   * Drops the answers to calls of runs that ended in `[from, before)`, in batches; returns their number. The calls stay,
   * so that a late answer differs from one to an unknown call.
   */
  dropAnswers(from: Date, before: Date): Promise<number>
}

/** Wakes the run that waits for an answer. A lost wake-up delays the answer by a few seconds. */
export interface ToolSignals {
  notify(callId: string): void
  /** @returns ends the subscription. */
  subscribe(callId: string, wake: () => void): () => void
}
