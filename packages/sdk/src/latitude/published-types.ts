import type { LatitudeEventData, OutputKind, ProviderEventData, RunResult } from '../index.ts'
import type { RenderToolHandler } from '../render/index.ts'
import type { LatitudeOptions } from './options.ts'
import type { LatitudeToolContext } from './tools.ts'

// These types keep the published clients' names, so that applications need to change only the import.

/** The options of `Latitude`. */
export type Options = LatitudeOptions

/** The result of a run, as 5.x names it. */
export type GenerationResponse<S extends OutputKind = 'text'> = RunResult<S>

/** The result of a run, as 4.x names it. */
export type StreamChainResponse = RunResult

/** The type of `data` in the input of `onEvent`. */
export type ChainEventDto = LatitudeEventData | ProviderEventData

/** The arguments of tools by tool name. */
export type ToolSpec = Record<string, Record<string, unknown>>

/** The handler of one tool. */
export type ToolHandler<T extends ToolSpec, K extends keyof T> = (
  toolCall: T[K],
  details: LatitudeToolContext,
) => Promise<unknown>

/** The second argument of a tool handler, as 4.x names it. */
export type ToolCallDetails = LatitudeToolContext

/** The second argument of a tool handler of `renderChain`. */
export type RenderToolCallDetails = Parameters<RenderToolHandler>[1]

/** The result of a tool. */
export interface ToolCallResponse {
  id: string
  name: string
  result?: unknown
  isError?: boolean
  text?: string
}

/** The argument of `Latitude.instrument`, which ignores it. */
export type Instrumentation = object
