/** The tools of one step: what the model is told of each, and who answers its calls. */
import type { ToolDefinition } from '../../providers/model-driver.ts'
import type { TemplateScan, TemplateSource } from '../../templates/template-engine.ts'
import type { ProjectDefaults } from '../execute-run.ts'
import type { RunSpending } from '../run.ts'

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

export interface ToolScope {
  workspaceId: number
  projectId: number
  versionUuid: string
  conversationUuid: string
  /** Null in the run of an agent: nobody sees its calls, so no caller can answer them. */
  runUuid: string | null
  /** Client tools whose calls wait for a result. */
  awaited: readonly string[]
  /** From the document that was run down to this one. */
  lineage: readonly string[]
}

/** Nobody can post a result before a plain JSON answer: there the calls end the run. */
export function awaitedTools(mode: 'json' | 'stream', names: readonly string[]): readonly string[] {
  return mode === 'json' ? [] : names
}

export type ToolCallState = 'waiting' | 'answered' | 'closed'

export interface NewToolCall {
  /** Unique over the server. */
  id: string
  workspaceId: number
  projectId: number
  runUuid: string
  /** The run waits for the caller's result; otherwise none is ever taken. */
  isWaiting: boolean
  createdAt: Date
}

/** What the caller of a run answered. */
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
  /** By compare-and-set: false when the call is unknown, answered or closed, or its run has ended. */
  answer(answer: GivenAnswer): Promise<boolean>
  /** By compare-and-set: false when an answer came before. No later one is taken. */
  close(call: { id: string; workspaceId: number }): Promise<boolean>
  findAnswer(workspaceId: number, id: string): Promise<ToolAnswer | null>
  /** The project of a call that some run of the workspace issued. */
  findProject(workspaceId: number, id: string): Promise<number | null>
  /**
   * Drops the answers to calls of runs that ended in `[from, before)`, some at a time; returns how many. That a call was
   * issued stays known: a late answer is told from one to an unknown call.
   */
  dropAnswers(from: Date, before: Date): Promise<number>
}

/** Tells whoever waits for a call that its answer is stored. A lost wake-up costs a few seconds, never the answer. */
export interface ToolSignals {
  notify(callId: string): void
  /** @returns ends the subscription. */
  subscribe(callId: string, wake: () => void): () => void
}
