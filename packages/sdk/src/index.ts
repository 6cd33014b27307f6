export { ApiPromise } from './api-promise.ts'
export type { CacheEntry, CacheOptions, CacheStore, PromptFallback } from './cache-options.ts'
export { Stet } from './client.ts'
export type { ErrorDetails } from './error-details.ts'
export {
  AbortError,
  ApiError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  type ErrorWithReason,
  ForbiddenError,
  hasReason,
  InternalServerError,
  NotFoundError,
  RateLimitError,
  RunError,
  StetError,
  StreamInterruptedError,
  TimeoutError,
  ToolExecutionError,
  UnauthorizedError,
  UnprocessableEntityError,
} from './errors.ts'
export type {
  AsyncIterableStream,
  Exposed,
  ForwardOptions,
  LatitudeEventData,
  ProviderEventData,
  SdkEventData,
  StreamEvent,
  StreamEventMap,
} from './events.ts'
export type {
  ApiKey,
  AttachOptions,
  ChatOptions,
  Hooks,
  InProject,
  Logger,
  LogLevel,
  RequestOptions,
  ResumeOptions,
  RunOptions,
  Scope,
  StetOptions,
  StreamCallbacks,
  StreamControls,
  StreamDefaults,
} from './options.ts'
export type * from './prompt-registry.ts'
export type { RateLimitInfo } from './rate-limit.ts'
export type { DeepPartial, OutputKind, OutputOf, ParamsOf, PartialObject, PromptPath, ToolsOf } from './registry.ts'
export type { ApiKeys } from './resources/api-keys.ts'
export type { Conversations } from './resources/conversations.ts'
export type { Environments } from './resources/environments.ts'
export type { Evaluations } from './resources/evaluations.ts'
export type { Examples } from './resources/examples.ts'
export type { Experiments } from './resources/experiments.ts'
export type { Logs } from './resources/logs.ts'
export { type Page, PagePromise } from './resources/page.ts'
export type { Projects } from './resources/projects.ts'
export type { Prompts } from './resources/prompts.ts'
export type { ProviderKeys } from './resources/provider-keys.ts'
export type { Providers } from './resources/providers.ts'
export type { Runs } from './resources/runs.ts'
export type { Versions } from './resources/versions.ts'
export type { RunJob } from './run/run-job.ts'
export { RunStream } from './stream/run-stream.ts'
export {
  type HandlerMap,
  type StandardSchema,
  type Tool,
  type ToolContext,
  type ToolHandler,
  type ToolMap,
  tool,
} from './tool.ts'
export type * from './types.ts'
