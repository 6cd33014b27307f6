import type { Message, ToolCall } from '../index.ts'

/** The second argument of a tool handler: the call, with the 4.x names of its fields. */
export interface LatitudeToolContext extends ToolCall {
  conversationUuid: string
  messages: Message[]
  signal: AbortSignal
  /**
   * Ends the loop of tool calls. The result contains the open calls.
   *
   * @example
   * await latitude.prompts.run('weather', { tools: { get_weather: (_, { pauseExecution }) => pauseExecution() } })
   */
  pauseExecution(): never
  /** `id` */
  readonly toolId: string
  /** `name` */
  readonly toolName: string
}

/** Handlers by tool name. `T` maps each tool to its arguments. */
export type LatitudeTools<T> = { [K in keyof T]: (args: T[K], context: LatitudeToolContext) => unknown }

type Handler = (args: unknown, context: ToolCall) => unknown

/** The same handlers, with contexts that also have the names of 4.x. */
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
