import type { RunDocumentBody } from '@stet/contract/vocabulary'
import type { CacheOptions } from './cache/cache-options.ts'
import type { StetError } from './errors.ts'
import type { Nothing, OutputKind, OutputOf, ParamsOf, ToolsOf } from './registry.ts'
import type { StreamEvent } from './stream/events.ts'
import type { ToolMap } from './tools/tool.ts'
import type { RunResult, ToolCall } from './types.ts'

/** An API key, or a function that returns the current one. It is called before each attempt. */
export type ApiKey = string | (() => string | Promise<string>)

/** How much the client logs. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug'

/** The destination of the client's log, for example `console`. */
export interface Logger {
  error(m: string, ...r: unknown[]): void
  warn(m: string, ...r: unknown[]): void
  info(m: string, ...r: unknown[]): void
  debug(m: string, ...r: unknown[]): void
}

/** The project and version of a call. */
export interface Scope {
  projectId?: number | string
  /** A uuid or `live`, the default. */
  versionUuid?: string
}

/** Options of every call. */
export interface RequestOptions {
  signal?: AbortSignal
  /** Milliseconds. JSON calls: until the body is read; streams: until the response head. */
  timeout?: number
  maxRetries?: number
  /** null removes a default header. */
  headers?: Record<string, string | null>
  /** Default: one random UUID per logical POST, the same on every retry. */
  idempotencyKey?: string
}

/**
 * The options of the client. Every one has a default.
 *
 * @example new Stet({ apiKey: 'stet_…', baseUrl: 'https://prompts.example.com', projectId: 1 })
 */
export interface StetOptions extends Scope {
  /** Default: the environment variable STET_API_KEY. */
  apiKey?: ApiKey
  /** Default: STET_BASE_URL, then http://127.0.0.1:8787. /api/v3 is appended when missing. */
  baseUrl?: string
  /** Milliseconds. Default: 60_000, and 600_000 for runs with `stream: false`. */
  timeout?: number
  /** 2 */
  maxRetries?: number
  fetch?: typeof globalThis.fetch
  fetchOptions?: RequestInit & { dispatcher?: unknown }
  defaultHeaders?: Record<string, string | null>
  /** Caches prompts of `prompts.get`; false */
  cache?: boolean | CacheOptions
  streaming?: StreamDefaults
  /** Default: STET_LOG, then `warn`. */
  logLevel?: LogLevel
  logger?: Logger
  hooks?: Hooks
  /** Only set this if every visitor of the page may read the API key. */
  dangerouslyAllowBrowser?: boolean
}

/** Defaults of all streams of a client. */
export interface StreamDefaults {
  /** Whether and how a cut stream is resumed, true */
  resume?: boolean | ResumeOptions
  /** Milliseconds without a byte after which a stream counts as cut, 45_000. */
  idleTimeout?: number
  /** If false, no events are kept, and late readers start at the current event. true */
  bufferEvents?: boolean
  /** The most chats that one call makes to answer tools, 10 */
  maxToolRounds?: number
}

/** How the client resumes a cut stream. */
export interface ResumeOptions {
  /** Attempts without a new event, 3 */
  maxAttempts?: number
  /** Milliseconds before the first attempt, doubled with each further one, 500 */
  initialDelay?: number
  /** Milliseconds at most, 8000 */
  maxDelay?: number
}

/** Observers for metrics and traces. Their exceptions are logged and ignored. */
export interface Hooks {
  onRequest?(c: { operation: string; method: string; url: string; headers: Headers; attempt: number }): void
  onResponse?(c: {
    operation: string
    method: string
    url: string
    status: number
    requestId: string | null
    attempt: number
    durationMs: number
  }): void
  onStreamEvent?(e: StreamEvent, c: { conversationUuid?: string; path?: string }): void
  onError?(e: StetError, c: { operation: string; willRetry: boolean }): void
}

/** Called synchronously in event order. An exception rejects the stream. */
export interface StreamCallbacks<O extends OutputKind = 'text'> {
  onEvent?: (e: StreamEvent) => void
  onText?: (delta: string, snapshot: string) => void
  onToolCall?: (c: ToolCall) => void
  onFinished?: (r: RunResult<O>) => void
  onError?: (e: StetError) => void
}

/** The behavior of one stream. */
export interface StreamControls<T = Nothing> {
  /** Handlers for the tools that the prompt declares, by tool name. */
  tools?: ToolMap<T>
  /** `inline` (default): the run waits for each result. `turns`: it ends with its calls, and a chat continues it. */
  toolMode?: 'inline' | 'turns'
  maxToolRounds?: number
  resume?: boolean | ResumeOptions
  idleTimeout?: number
  bufferEvents?: boolean
  /** The effect of aborting `signal`: stop the run (default), or only stop reading it. */
  onAbort?: 'stop' | 'detach'
}

type ParamField<X> = Nothing extends X ? { parameters?: X } : { parameters: X }

/** The options of a run of prompt `P`. */
export type RunOptions<R, P, O extends OutputKind = OutputOf<R, P>> = Scope &
  RequestOptions &
  StreamCallbacks<O> &
  StreamControls<ToolsOf<R, P>> &
  ParamField<ParamsOf<R, P>> &
  Omit<RunDocumentBody, 'path' | 'parameters' | 'tools' | 'stream' | 'background' | 'mcpHeaders'> & {
    /** The transport of `run()`: true (default) is an event stream, false one JSON body; the result is the same. */
    stream?: boolean
    /** `run()` resolves to a job at once. `stream()` reads a run that continues when its reader disconnects. */
    background?: boolean
    mcpHeaders?: Record<string, Record<string, string>>
  }

/** The options of a chat. */
export type ChatOptions<O extends OutputKind = 'text'> = RequestOptions &
  StreamCallbacks<O> &
  StreamControls & { stream?: boolean; mcpHeaders?: Record<string, Record<string, string>> }

/** The options of attaching to a run. */
export type AttachOptions<O extends OutputKind = 'text'> = RequestOptions &
  StreamCallbacks<O> &
  StreamControls & {
    stream?: boolean
    /** Only events after this one. Default: all of the latest run. */
    lastEventId?: string
  }

/** The options argument of a run. It is optional if the prompt requires no parameter. */
export type RunArgs<R, P> = Nothing extends ParamsOf<R, P> ? [options?: RunOptions<R, P>] : [options: RunOptions<R, P>]

/** The compile error of a call without options: the parameters that the prompt requires. */
export interface MissingParameters<Names> {
  readonly parameters: Names
}

type RequiredKeys<T> = { [K in keyof T]-?: Nothing extends Pick<T, K> ? never : K }[keyof T]

/** Never matches. For a prompt that requires parameters, the compile error names them. */
export type Unmet<R, P> = Nothing extends ParamsOf<R, P> ? never : P & MissingParameters<RequiredKeys<ParamsOf<R, P>>>

/** Hides an overload unless its type argument is written, so that inference ignores it. */
export type Open<O> = [O] extends [never] ? never : string

/** The options of calls that belong to a project but to no version. */
export type InProject = { projectId?: number | string } & RequestOptions
