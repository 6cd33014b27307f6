import type { Message, ToolCall } from '../index.ts'

/** The message format: stet's own, or that of a provider's API. */
export type AdapterName = 'default' | 'openai' | 'openaiResponses' | 'anthropic'

/** The text of a prompt. Accepts a fetched prompt. */
export type Source = string | { content: string; path?: string }

/** The options for rendering a prompt. */
export interface RenderOptions {
  parameters?: Record<string, unknown>
  /** Default: `openai`. An object is an adapter of promptl-ai with `fromPromptl` and `toPromptl`. */
  adapter?: AdapterName | object
  /** The texts of all directly and indirectly referenced prompts, by their paths in the project. */
  references?: Record<string, string>
  /** The prompt's path, for relative references. Default: the `path` of the source. */
  fullPath?: string
  /** Omits the keys of `config` that only the server reads, so that the rest suits a provider's API. */
  stripServiceConfig?: boolean
}

/** The result of rendering. `config` is the front matter, overridden by the attributes of the step. */
export interface Rendered<M = Message> {
  config: Record<string, unknown>
  messages: M[]
}

/** The second argument of a tool handler. */
export interface RenderToolContext extends ToolCall {
  /** Empty, because no server stores the conversation. */
  conversationUuid: string
  /** The conversation so far, in the adapter's format. */
  messages: Message[]
  signal: AbortSignal
  /**
   * Ends the chain. The last message of the result contains the open calls.
   *
   * @example
   * const { messages } = await renderChain(await stet.prompts.get('support/order'), {
   *   onStep: async ({ messages }) => askModel(messages),
   *   tools: { ask_a_person: (_, { pauseExecution }) => pauseExecution() },
   * })
   */
  pauseExecution(): never
}

interface Handling {
  handle(args: Record<string, unknown>, context: RenderToolContext): unknown
}

/** Answers a tool call of a chain. The model gets an exception as an error result. */
export type RenderToolHandler = Handling['handle']

/** The options for rendering a chain. */
export interface RenderChainOptions<M = Message> extends RenderOptions {
  /** Calls the model with a step's messages. Returns its answer as text, or as a message without a role. */
  onStep: (step: Rendered<M> & { step: number; signal?: AbortSignal }) => Promise<string | Omit<M, 'role'>>
  /** Handlers by tool name. A call without a handler stays open. */
  tools?: Record<string, RenderToolHandler>
  /** Model calls per step, including tool calls. Default: the prompt's `maxSteps`, then 20. */
  maxSteps?: number
  signal?: AbortSignal
}
