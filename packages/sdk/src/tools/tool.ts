import type { Nothing } from '../registry.ts'
import type { Message, ToolCall } from '../types.ts'

/** The common interface of schema libraries (standardschema.dev). All common libraries implement it. */
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

// Untyped arguments: a handler may declare any type for them, so they must be assignable both ways.
// biome-ignore lint/suspicious/noExplicitAny: the one hole, which the callers of handlers without a registry need
type Untyped = any

type SchemaIn<S> = S extends StandardSchema<infer I, Untyped> ? I : never
type SchemaOut<S> = S extends StandardSchema<Untyped, infer O> ? O : never

/** The context of a tool call. */
export interface ToolContext extends ToolCall {
  conversationUuid: string
  /** The conversation so far. */
  messages: Message[]
  /** Aborts when the stream ends or the tool's time is over. */
  signal: AbortSignal
  /**
   * Leaves this call and the others of its round open. The run ends with them, and a later `chat()` answers them.
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
  /** Never set. With this type the compiler compares the schema's input with the prompt's declaration. */
  readonly '~takes'?: (args: I) => void
  /** Milliseconds, 240_000. Then the model gets an error. */
  timeout?: number
  /** For invalid arguments: `report` (default) returns an error to the model, `throw` stops the run. */
  onInvalidArgs?: 'report' | 'throw'
}

/** A tool without a schema. Its arguments are the model's, unchecked. */
export type ToolHandler<A = Untyped> = (args: A, ctx: ToolContext) => unknown

/** Tools by the names that the prompt declares, or by any name if its tools are unknown. */
export type ToolMap<T = Nothing> = [keyof T] extends [never]
  ? { [name: string]: Tool | ToolHandler | undefined }
  : { [K in keyof T]?: Tool<Untyped, T[K]> | ToolHandler<T[K]> }

/** Handlers for tools whose arguments the caller types. */
export type HandlerMap<T> = { [K in keyof T]: ToolHandler<T[K]> }

/**
 * A tool whose schema checks and types its arguments.
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
