import type { RunDocumentBody } from '@stet/contract/vocabulary'
import type { CacheOptions } from './cache-options.ts'
import type { StetError } from './errors.ts'
import type { StreamEvent } from './events.ts'
import type { Nothing, OutputKind, OutputOf, ParamsOf, ToolsOf } from './registry.ts'
import type { ToolMap } from './tool.ts'
import type { Message, RunResult, ToolCall } from './types.ts'

/** An API key, or a function that returns the current one. The client calls the function before each attempt. */
export type ApiKey = string | (() => string | Promise<string>)

export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug'

/** Receives the client's logger output, for example `console`. */
export interface Logger {
  error(m: string, ...r: unknown[]): void
  warn(m: string, ...r: unknown[]): void
  info(m: string, ...r: unknown[]): void
  debug(m: string, ...r: unknown[]): void
}

/** The project and version that a call uses. */
export interface Scope {
  projectId?: number | string
  /** A version uuid, or `live` (default). */
  versionUuid?: string
}

/** Options that every call accepts. */
export interface RequestOptions {
  signal?: AbortSignal
  /** Milliseconds per attempt to receive the whole JSON body, or the response head of a stream. */
  timeout?: number
  maxRetries?: number
  /** Set a header to null to remove a default. */
  headers?: Record<string, string | null>
  /** Default: a random UUID per POST call. Retries reuse the idempotency key. */
  idempotencyKey?: string
}

/**
 * Client options. All of them are optional.
 *
 * @example new Stet({ apiKey: 'stet_…', baseUrl: 'https://prompts.example.com', projectId: 1 })
 */
export interface StetOptions extends Scope {
  /**
   * Default: the STET_API_KEY environment variable. With null, the client sends no Authorization header: for a page of
   * the server itself, which sends a cookie.
   */
  apiKey?: ApiKey | null
  /** Default: STET_BASE_URL, then http://127.0.0.1:8787. The client appends a missing /api/v3. */
  baseUrl?: string
  /** Milliseconds per attempt. Default: 60_000, or 600_000 for runs with `stream: false`. */
  timeout?: number
  /** Default: 2. */
  maxRetries?: number
  fetch?: typeof globalThis.fetch
  fetchOptions?: RequestInit & { dispatcher?: unknown }
  defaultHeaders?: Record<string, string | null>
  /** Whether to cache the prompts that `prompts.get` fetches. Default: false. */
  cache?: boolean | CacheOptions
  streaming?: StreamDefaults
  /** Default: STET_LOG, then `warn`. */
  logLevel?: LogLevel
  logger?: Logger
  hooks?: Hooks
  /** Set this only if every visitor of the page may read the API key. */
  dangerouslyAllowBrowser?: boolean
}

/** Defaults for all streams of a client. */
export interface StreamDefaults {
  /** Whether to resume a broken stream. Default: true. */
  resume?: boolean | ResumeOptions
  /** Milliseconds without data before the client treats the stream as broken. Default: 45_000. */
  idleTimeout?: number
  /** If false, the stream stores no events, and late readers start at the next event. Default: true. */
  bufferEvents?: boolean
  /** The maximum number of chat requests that one call sends with tool results. Default: 10. */
  maxToolRounds?: number
}

/** Configures how the client resumes a broken stream. */
export interface ResumeOptions {
  /** The maximum number of consecutive attempts without a new event. Default: 3. */
  maxAttempts?: number
  /** Milliseconds before the first attempt. The delay doubles with each attempt. Default: 500. */
  initialDelay?: number
  /** The longest delay in milliseconds. A delay that the server requests may be longer. Default: 8000. */
  maxDelay?: number
}

/** Observers for metrics and traces. The client logs and ignores their exceptions. */
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
  /** Called before the client waits and repeats a request. `attempt` is the number of the coming attempt: 1 or more. */
  onRetry?(c: { operation: string; attempt: number; delayMs: number; error: StetError }): void
}

/**
 * Stream callbacks run synchronously in event order. An exception rejects the stream, except in `onError`, where the
 * client logs the exception.
 */
export interface StreamCallbacks<O extends OutputKind = 'text'> {
  onEvent?: (e: StreamEvent) => void
  onText?: (delta: string, snapshot: string) => void
  onToolCall?: (c: ToolCall) => void
  onFinished?: (r: RunResult<O>) => void
  onError?: (e: StetError) => void
}

/** Controls how one stream behaves. */
export interface StreamControls<T = Nothing> {
  /** Handlers for the prompt's declared tools, by tool name. */
  tools?: ToolMap<T>
  /**
   * `inline` (default): the run waits for each tool result. `turns`: the run ends with its tool calls, and a chat
   * continues the conversation.
   */
  toolMode?: 'inline' | 'turns'
  maxToolRounds?: number
  resume?: boolean | ResumeOptions
  idleTimeout?: number
  bufferEvents?: boolean
  /** Aborting `signal` stops the run with `stop` (default), and leaves the run active with `detach`. */
  onAbort?: 'stop' | 'detach'
}

type ParamField<X> = Nothing extends X ? { parameters?: X } : { parameters: X }

/** Options for running prompt `P`. */
export type RunOptions<R, P, O extends OutputKind = OutputOf<R, P>> = Scope &
  RequestOptions &
  StreamCallbacks<O> &
  StreamControls<ToolsOf<R, P>> &
  ParamField<ParamsOf<R, P>> &
  Omit<RunDocumentBody, 'path' | 'parameters' | 'messages' | 'tools' | 'stream' | 'background' | 'mcpHeaders'> & {
    /**
     * Appended to the prompt's messages, such as the user's first message of a chat. Not possible for a prompt with
     * `<step>`.
     */
    messages?: Message[]
    /**
     * How `run()` receives the result: as an event stream (true, the default) or as one JSON body. Both give the same
     * result.
     */
    stream?: boolean
    /**
     * If true, `run()` resolves to a job as soon as the server has accepted the run, and a run of `stream()` continues
     * if its reader disconnects.
     */
    background?: boolean
    mcpHeaders?: Record<string, Record<string, string>>
  }

/** Options for a chat. */
export type ChatOptions<O extends OutputKind = 'text'> = RequestOptions &
  StreamCallbacks<O> &
  StreamControls & { stream?: boolean; mcpHeaders?: Record<string, Record<string, string>> }

/** Options for attaching to a run. */
export type AttachOptions<O extends OutputKind = 'text'> = RequestOptions &
  StreamCallbacks<O> &
  StreamControls & {
    stream?: boolean
    /**
     * The stream starts after the event with this id. Default: the stream has all events of the latest run. A route can
     * pass `request.headers.get('Last-Event-ID')`, which is null without that header.
     */
    lastEventId?: string | null | undefined
    /** A run of the conversation. Default: the latest one. */
    runUuid?: string
  }

/** The options argument of a run. Optional unless the prompt requires a parameter. */
export type RunArgs<R, P> = Nothing extends ParamsOf<R, P> ? [options?: RunOptions<R, P>] : [options: RunOptions<R, P>]

/** Shows the required parameters in the compile error for a call without options. */
export interface MissingParameters<Names> {
  readonly parameters: Names
}

type RequiredKeys<T> = { [K in keyof T]-?: Nothing extends Pick<T, K> ? never : K }[keyof T]

/** Matches no path. If the prompt requires parameters, the compile error lists the required parameters. */
export type Unmet<R, P> = Nothing extends ParamsOf<R, P> ? never : P & MissingParameters<RequiredKeys<ParamsOf<R, P>>>

/** Disables an overload for calls that do not pass its type argument, so that inference skips the overload. */
export type Open<O> = [O] extends [never] ? never : string

/** Options for calls that need a project but no version. */
export type InProject = { projectId?: number | string } & RequestOptions
