import { isDeepStrictEqual } from 'node:util'
import type { CannedResult, ToolCall } from '@stet/contract/vocabulary'
import type { PromptVersion } from '../../documents/document.ts'
import type { ToolDefinition } from '../../providers/model-driver.ts'
import type { TemplateScan, TemplateSource } from '../../templates/template-engine.ts'
import type { CannedCalls, ProjectDefaults } from '../run.ts'

/** A caller's tool. Its call has a canned result, waits for a result, or ends the run with a tool request. */
interface ClientTool {
  source: 'client'
  definition: ToolDefinition
  isAwaited: boolean
  canned?: CannedCalls | undefined
}

/** Another prompt of the same version. */
export interface AgentTool {
  source: 'agentAsTool'
  definition: ToolDefinition
  path: string
  template: TemplateSource
  scan: TemplateScan
  version: PromptVersion
  /** The project's defaults. A chat's run plan has none: the stored configuration includes the defaults. */
  projectDefaults: ProjectDefaults
}

export type StepTool = ClientTool | AgentTool | { source: 'serverTool'; definition: ToolDefinition; tool: ServerTool }

/** Keyed by the name that the model sees. */
export type Toolbox = ReadonlyMap<string, StepTool>

export interface ToolOutcome {
  result: unknown
  isError: boolean
  /** The reason, if there is no result. Readers then get a `tool-error` event. */
  failure?: string
}

export interface ServerToolContext {
  /** Aborted when the run is aborted or the tool exceeds its time limit. */
  signal: AbortSignal
  toolCallId: string
  conversationUuid: string
  workspaceId: number
  projectId: number
  /** The W3C header of a traced run, for requests that the tool makes. */
  traceparent?: string
}

/** `name` is the name in prompts, for example `latitude/search`. */
export interface ServerTool extends ToolDefinition {
  execute(args: Record<string, unknown>, context: ServerToolContext): unknown
}

/** Keyed by the name in prompts. */
export type ServerTools = ReadonlyMap<string, ServerTool>

export type ToolCallState = 'waiting' | 'answered' | 'closed'

export interface NewToolCall {
  id: string
  workspaceId: number
  projectId: number
  runUuid: string
  /** True if the run waits for the caller's result. Otherwise a result is not stored. */
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
  /** Uses compare-and-set. Returns false if the call is unknown, answered or closed, or if the call's run has ended. */
  answer(answer: GivenAnswer): Promise<boolean>
  /** Uses compare-and-set. Returns false if the call was not waiting. Later answers are not stored. */
  close(call: { id: string; workspaceId: number }): Promise<boolean>
  findAnswer(workspaceId: number, id: string): Promise<ToolAnswer | null>
  findProject(workspaceId: number, id: string): Promise<number | null>
  /** Drops one batch of answers in runs that ended in `[from, before)`. Returns their number. The calls stay. */
  dropAnswers(from: Date, before: Date): Promise<number>
}

/** Wakes the run that waits for an answer. A lost wake-up delays the answer by a few seconds. */
export interface ToolSignals {
  notify(callId: string): void
  subscribe(callId: string, wake: () => void): () => void
}

type Results = Readonly<Record<string, readonly CannedResult[]>>

/**
 * Each instance serves one run. A call takes the first unused entry whose `args` its arguments contain. If all of these
 * are used, the last one repeats.
 */
export function cannedCalls(results: Results): CannedCalls {
  const used = new Set<CannedResult>()
  const taken = new Map<string, CannedResult>()
  return {
    take({ id, name, arguments: given }: ToolCall) {
      const entries = Object.hasOwn(results, name) ? (results[name] ?? []) : []
      const fitting = entries.filter(({ args = {} }) => contains(given, args))
      const entry = fitting.find((each) => !used.has(each)) ?? fitting.at(-1)
      if (entry) taken.set(id, entry)
      if (entry) used.add(entry)
      return entry !== undefined
    },
    outcomeOf(id) {
      const entry = taken.get(id)
      if (!entry) throw new Error('Only a call that took an entry has an outcome')
      return { result: entry.result, isError: entry.isError === true }
    },
  }
}

/** Objects may have more keys than the wanted ones, at every depth. Everything else must be equal. */
function contains(given: unknown, wanted: unknown): boolean {
  if (!isObject(given) || !isObject(wanted)) return isDeepStrictEqual(given, wanted)
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(given, key) && contains(given[key], value))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
