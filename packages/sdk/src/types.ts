import type {
  Annotation,
  ApiKey,
  Change,
  CompileIssue,
  Conversation as ConversationBody,
  ConversationOrigin,
  CreateEvaluationBody,
  CreateProjectBody,
  DiffSide,
  Document,
  ErrorReason,
  Evaluation,
  EvaluationConfiguration,
  FinishReason,
  Health,
  KeyPlan,
  KeyScope,
  LogEntry as LogEntryBody,
  Me as MeBody,
  MessageInput,
  MessagePart,
  Project,
  ProviderKey,
  PushResult,
  RevertResult,
  Role,
  RunResult as RunResultBody,
  RunState,
  StopResult,
  TextResponse,
  ToolCall,
  Usage,
  Version as VersionBody,
  VersionDiff,
} from '@stet/contract/vocabulary'
import type { IsText, OutputKind } from './registry.ts'

// The wire types come from the contract. The types below are wider, so that code compiled today can read a newer
// server: an added code or provider is a string, and a message from the server can be sent back.
export type {
  Annotation,
  Change,
  CompileIssue,
  ConversationOrigin,
  DiffSide,
  ErrorReason,
  Evaluation,
  FinishReason,
  Health,
  KeyPlan,
  KeyScope,
  Project,
  PushResult,
  RevertResult,
  Role,
  RunState,
  StopResult,
  ToolCall,
  Usage,
  VersionDiff,
}

/**
 * One part of a message. Images and files are URLs, data URLs or base64 text.
 *
 * @example { type: 'text', text: 'Hello' }
 */
export type ContentPart = MessagePart

/**
 * A message of a conversation. Every message of a response can be sent back; its `content` is always a list of parts.
 *
 * @example { role: 'user', content: 'Where is my order?' }
 */
export type Message = MessageInput

/** A prompt in one version. `content` is the text exactly as stored. */
export interface Prompt extends Omit<Document, 'config' | 'provider'> {
  /** The parsed front matter. */
  config: Record<string, unknown> & { provider?: string; model?: string }
  /** Absent if no configured provider key matches. */
  provider?: string
}

/** A prompt and its origin. */
export interface FetchedPrompt extends Prompt {
  readonly source: 'network' | 'cache' | 'stale' | 'fallback'
  /** Epoch milliseconds. */
  readonly fetchedAt: number
}

/** A version of a project: a draft, or merged and numbered by its publication. */
export interface Version extends Omit<VersionBody, 'deletedAt'> {
  deletedAt: string | null
}

interface ResponseBase extends Omit<TextResponse, 'streamType' | 'provider' | 'input' | 'output'> {
  provider: string
  /** The messages that the model received. */
  input: Message[]
  /** The generated messages, with tool calls and their results. */
  output: Message[]
}

/** The response of the last step. `object` exists only for prompts with a `schema`. */
export type RunResponse<O extends OutputKind = 'text'> =
  IsText<O> extends true
    ? ResponseBase & { streamType: 'text'; object?: undefined }
    : ResponseBase & { streamType: 'object'; object: O }

/** A response whose kind is unknown at compile time. */
export type AnyRunResponse = RunResponse<'text'> | RunResponse<unknown>

/** The end of a run: the whole conversation, the last response, and the sums over all steps. */
export interface RunResult<O extends OutputKind = 'text'> extends Omit<RunResultBody, 'conversation' | 'response'> {
  /** All messages: prompt, responses, tool calls and their results. */
  conversation: Message[]
  response: RunResponse<O>
}

/** A stored conversation. */
export interface Conversation extends Omit<ConversationBody, 'conversation' | 'error'> {
  /** Empty while the run is queued. Grows while it runs. */
  conversation: Message[]
  error: { errorCode: string; message: string } | null
}

/** A conversation in a list, without its messages. */
export type ConversationSummary = Omit<Conversation, 'conversation'>

/**
 * The fields of a new evaluation. Ratings and thresholds belong to the metric `rating`, whose range is 1 to 5 by default.
 *
 * @example { name: 'Helpful', metric: 'rating', configuration: { minThreshold: 4 } }
 */
export interface EvaluationInput extends Omit<CreateEvaluationBody, 'projectId' | 'configuration'> {
  configuration?: EvaluationConfiguration & { [extra: string]: unknown }
}

/** The source of an external log. */
export type LogSource = 'api' | 'playground' | 'evaluation' | (string & {})

/** A recorded external log; its `uuid` is that of its conversation. */
export interface LogEntry extends Omit<LogEntryBody, 'source'> {
  source: LogSource
}

/** Defaults at run time for prompts without a provider or model. An empty string clears a default. */
export type ProjectDefaults = Pick<CreateProjectBody, 'defaultProvider' | 'defaultModel'>

/** An API key without its secret. */
export type ApiKeyInfo = ApiKey

/** A provider key with a masked `token`. Provider keys with id 0 come from the server's own settings. */
export interface ProviderKeyInfo extends Omit<ProviderKey, 'provider'> {
  provider: string
}

/** The key in use, its workspace and its rate limit. */
export interface Me extends Omit<MeBody, 'rateLimit'> {
  rateLimit: { limit: number; windowSeconds: number }
}
