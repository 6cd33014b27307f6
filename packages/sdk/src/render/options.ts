import type { Message, ToolCall } from '../index.ts'

/** The message format: stet's own or a provider API's. */
export type AdapterName = 'default' | 'openai' | 'openaiResponses' | 'anthropic'

/** A prompt's text, or a fetched prompt. */
export type Source = string | { content: string; path?: string }

/** Options for rendering a prompt. */
export interface RenderOptions {
  parameters?: Record<string, unknown>
  /** Default: `openai`. An object must be an adapter of promptl-ai, such as its `vercel`, with `fromPromptl` and `toPromptl`. */
  adapter?: AdapterName | object
  /** The texts of all directly and indirectly referenced prompts, by path in the project. */
  references?: Record<string, string>
  /** The prompt's path, which resolves relative references. Default: the `path` of the source. */
  fullPath?: string
  /**
   * Maximum work per step. 1,000,000 units take 20 to 100 ms, so the default of 10,000,000 up to a second. More work
   * rejects with a `RunError` whose `details.compileCode` is `limit-exceeded`. One operation (250,000 units) and one
   * text (4 MB) have limits of their own that `limit` does not lift.
   */
  limit?: number
  /** If true, removes the `config` keys that only the server reads. You can pass the others to a provider's API. */
  stripServiceConfig?: boolean
}

/** The rendered prompt. `config` is the front matter, overridden by the step's attributes. */
export interface Rendered<M = Message> {
  config: Record<string, unknown>
  messages: M[]
}

/** The second argument of a tool handler. */
export interface RenderToolContext extends ToolCall {
  /** Always empty, because no server stores the conversation. */
  conversationUuid: string
  /** The conversation so far, in the adapter's format. */
  messages: Message[]
  signal: AbortSignal
  /**
   * Ends the chain. The last message of the result contains the unanswered tool calls.
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

/** Answers one tool call of a chain. An exception becomes an error result for the model. */
export type RenderToolHandler = Handling['handle']

/** Options for rendering a chain. */
export interface RenderChainOptions<M = Message> extends RenderOptions {
  /** Calls the model with the messages. Returns the response as text, as a message without a role, or as a list of items. */
  onStep: (
    step: Rendered<M> & { step: number; signal?: AbortSignal },
  ) => Promise<string | Omit<M, 'role'> | Omit<M, 'role'>[]>
  /** Tool handlers by tool name. A call without a handler ends the step, and the call stays unanswered. */
  tools?: Record<string, RenderToolHandler>
  /** Maximum model calls per step, including those after tool calls. Default: the prompt's `maxSteps`, then 20. */
  maxSteps?: number
  signal?: AbortSignal
}
