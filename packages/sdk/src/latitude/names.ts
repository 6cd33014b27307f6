import type { AdapterName } from '../render/index.ts'

/** The sources of an external log. */
export const LogSources = { API: 'api', Playground: 'playground', Evaluation: 'evaluation' } as const
export type LogSources = (typeof LogSources)[keyof typeof LogSources]

export const MessageRole = {
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  developer: 'developer',
} as const
export type MessageRole = (typeof MessageRole)[keyof typeof MessageRole]

/** The content types in a message. */
export const ContentType = {
  text: 'text',
  image: 'image',
  file: 'file',
  toolCall: 'tool-call',
  toolResult: 'tool-result',
} as const
export type ContentType = (typeof ContentType)[keyof typeof ContentType]

/** The two kinds of run events, as `event` in the input of `onEvent`. */
export const StreamEventTypes = { Latitude: 'latitude-event', Provider: 'provider-event' } as const
export type StreamEventTypes = (typeof StreamEventTypes)[keyof typeof StreamEventTypes]

/**
 * The types of events about the run itself, as `data.type` in the input of `onEvent`. The server never sends
 * `ToolsStarted`, `ToolCompleted` and `IntegrationWakingUp`. These three exist so that old code compiles.
 */
export const ChainEventTypes = {
  ChainStarted: 'chain-started',
  StepStarted: 'step-started',
  ProviderStarted: 'provider-started',
  ProviderCompleted: 'provider-completed',
  ToolsStarted: 'tools-started',
  ToolsRequested: 'tools-requested',
  ToolCompleted: 'tool-completed',
  StepCompleted: 'step-completed',
  ChainCompleted: 'chain-completed',
  ChainError: 'chain-error',
  IntegrationWakingUp: 'integration-waking-up',
} as const
export type ChainEventTypes = (typeof ChainEventTypes)[keyof typeof ChainEventTypes]

/** The message formats of `render` and `renderChain`. These are only names: the prompt engine loads on first use. */
export const Adapters = {
  default: 'default',
  openai: 'openai',
  openaiResponses: 'openaiResponses',
  anthropic: 'anthropic',
} as const satisfies { readonly [K in AdapterName]: K }
