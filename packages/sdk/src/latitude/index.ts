export { ApiError as LatitudeApiError, type Message, type Project, type Prompt, type ToolCall } from '../index.ts'
export { Latitude } from './latitude.ts'
export { Adapters, ChainEventTypes, ContentType, LogSources, MessageRole, StreamEventTypes } from './names.ts'
export type { LatitudeOptions } from './options.ts'
export type { LatitudePrompts } from './prompts.ts'
export type {
  ChainEventDto,
  GenerationResponse,
  Instrumentation,
  Options,
  RenderToolCallDetails,
  StreamChainResponse,
  ToolCallDetails,
  ToolCallResponse,
  ToolHandler,
  ToolSpec,
} from './published-types.ts'
export type { LatitudeToolContext, LatitudeTools } from './tools.ts'
export type { LatitudeVersions } from './versions.ts'
