import type { Nothing } from './registry.ts'
import type { Message, ToolCall } from './types.ts'

/** The interface that common schema libraries implement (standardschema.dev). */
export interface StandardSchema<I = unknown, O = I> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (v: unknown) => SchemaResult<O> | Promise<SchemaResult<O>>
    readonly types?: { readonly input: I; readonly output: O } | undefined
  }
}

type SchemaResult<O> =
  | { value: O; issues?: undefined }
  | { issues: readonly { message: string; path?: readonly unknown[] | undefined }[] }

// The type of undeclared arguments. A handler may declare any type, so this type must be assignable in both directions.
// biome-ignore lint/suspicious/noExplicitAny: callers without a registry need unchecked arguments
type Untyped = any

type SchemaIn<S> = S extends StandardSchema<infer I, Untyped> ? I : never
type SchemaOut<S> = S extends StandardSchema<Untyped, infer O> ? O : never

/** The context of one tool call. */
export interface ToolContext extends ToolCall {
  conversationUuid: string
  messages: Message[]
  /** Aborts if the call is aborted, the stream fails or is detached, or the tool times out. */
  signal: AbortSignal
  /**
   * Leaves this call and the round's other unanswered calls open, and ends the run. A later `chat()` can answer the
   * open calls.
   *
   * @example
   * const result = await stet.prompts.run('weather', { tools: { get_weather: (_, { pauseExecution }) => pauseExecution() } })
   * const [open] = result.toolRequests
   */
  pauseExecution(): never
}

/** A tool with a schema for its arguments. The model sends `I`, and the schema returns `A`. */
export interface Tool<A = Untyped, I = Untyped> {
  input: StandardSchema<Untyped, A>
  execute: (args: A, ctx: ToolContext) => unknown
  /** Unset at run time. This field lets the compiler compare the schema's input with the prompt's declaration. */
  readonly '~takes'?: (args: I) => void
  /** Milliseconds before the model receives a timeout error. Default: 240_000. */
  timeout?: number
  /** How to handle invalid arguments: `report` (default) returns an error to the model, `throw` stops the run. */
  onInvalidArgs?: 'report' | 'throw'
}

/** A tool without a schema. The handler receives the model's arguments unchecked. */
export type ToolHandler<A = Untyped> = (args: A, ctx: ToolContext) => unknown

/** Tools by the names that the prompt declares. If the prompt's tools are unknown, any name is allowed. */
export type ToolMap<T = Nothing> = [keyof T] extends [never]
  ? { [name: string]: Tool | ToolHandler | undefined }
  : { [K in keyof T]?: Tool<Untyped, T[K]> | ToolHandler<T[K]> }

/** Handlers whose argument types the caller declares. */
export type HandlerMap<T> = { [K in keyof T]: ToolHandler<T[K]> }

/**
 * Defines a tool whose schema validates and types its arguments.
 *
 * @example
 * const tools = {
 *   get_weather: tool({ input: z.object({ city: z.string() }), execute: ({ city }) => weatherOf(city) }),
 * }
 */
export function tool<S extends StandardSchema<Untyped, Untyped>>(t: {
  input: S
  execute: (args: SchemaOut<S>, ctx: ToolContext) => unknown
  timeout?: number
  onInvalidArgs?: 'report' | 'throw'
}): Tool<SchemaOut<S>, SchemaIn<S>> {
  return t
}
