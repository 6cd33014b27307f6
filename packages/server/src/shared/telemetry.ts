/** Fields of one logger event. They must not contain bodies, prompts, messages or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Logger {
  error(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  debug(event: string, fields?: LogFields): void
}

/** The port to tracing. Spans are passed on explicitly. Without a span, none of its children is traced. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** `server` answers a request, `client` calls another service, `internal` is the rest. */
export type SpanRole = 'server' | 'client' | 'internal'

export interface Span {
  /** Fields for the logger. */
  readonly ids: { readonly trace_id: string; readonly span_id: string }
  /** The W3C header `traceparent` for requests that are made within this span. */
  readonly traceparent: string
  child(name: string, attributes?: SpanAttributes, role?: SpanRole): Span
  rename(name: string): void
  set(attributes: SpanAttributes): void
  /** Adds prompts, parameters or answers. @param read called only if the operator allows traces to contain content. */
  setContent(read: () => SpanAttributes): void
  /** @param error a name of low cardinality. It must not contain content. */
  end(error?: string): void
}

export interface RootSpanOptions {
  /** The W3C header of the caller. */
  traceparent?: string | undefined
  role: SpanRole
  attributes?: SpanAttributes
  /** Epoch milliseconds. Default: now. */
  startedAt?: number
}

export interface Tracer {
  /** Starts a span without a local parent. Returns undefined if it is not sampled and no caller traces it. */
  start(name: string, options: RootSpanOptions): Span | undefined
}

export const noTracer: Tracer = { start: () => undefined }
