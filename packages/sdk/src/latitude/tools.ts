import type { Message, ToolCall } from '../index.ts'

/** The second argument of a tool handler: the tool call, with its 4.x field names added. */
export interface LatitudeToolContext extends ToolCall {
  conversationUuid: string
  messages: Message[]
  signal: AbortSignal
  /**
   * Ends the tool loop. The result contains the open tool calls.
   *
   * @example
   * await latitude.prompts.run('weather', { tools: { get_weather: (_, { pauseExecution }) => pauseExecution() } })
   */
  pauseExecution(): never
  /** The 4.x name of `id`. */
  readonly toolId: string
  /** The 4.x name of `name`. */
  readonly toolName: string
}

/** Tool handlers by tool name. `T` maps each tool to its arguments. */
export type LatitudeTools<T> = { [K in keyof T]: (args: T[K], context: LatitudeToolContext) => unknown }

type Handler = (args: unknown, context: ToolCall) => unknown

/** Wraps handlers so that their context also has the 4.x field names. */
export function withOldNames(tools: object): Record<string, Handler> {
  const wrapped = Object.entries(tools).map(([name, handler]: [string, Handler]): [string, Handler] => [
    name,
    (args, context) => handler(args, named(context)),
  ])
  return Object.fromEntries(wrapped)
}

function named(context: ToolCall): ToolCall {
  return Object.defineProperties(context, {
    toolId: { get: () => context.id, configurable: true },
    toolName: { get: () => context.name, configurable: true },
  })
}
