import { ConnectionError, type OutputKind, RunStream, type StreamCallbacks } from '../index.ts'

/** Options for reading a run through the page's own server, which keeps the API key. */
export interface OpenRunOptions<O extends OutputKind = 'text'> extends StreamCallbacks<O> {
  /** The request body, sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  credentials?: RequestCredentials
  /** Aborting this signal closes the stream. The route decides whether the run continues. */
  signal?: AbortSignal
  /**
   * The route that resumes a broken stream. The route receives `{ conversationUuid }` as JSON, and the `Last-Event-ID`
   * header if an event has an id. Without this option, a broken stream rejects with StreamInterruptedError.
   */
  attachUrl?: string | ((conversationUuid: string) => string)
  /** If false, a broken stream is not resumed, even with `attachUrl`. Delays are in milliseconds. */
  resume?: boolean | { maxAttempts?: number; initialDelay?: number; maxDelay?: number }
}

interface Post {
  body: unknown
  headers?: Record<string, string>
  signal: AbortSignal
}

/**
 * Posts to a route on the page's own server and immediately returns the stream. The route must respond with
 * `stream.toResponse()`.
 *
 * @example
 * const stream = openRun('/api/reply', { body: { ticket }, attachUrl: '/api/reply/attach' })
 * for await (const text of stream.textStream) show(text)
 */
export function openRun<O extends OutputKind = 'text'>(url: string, o: OpenRunOptions<O> = {}): RunStream<O> {
  const { attachUrl } = o
  const source = {
    open: (signal: AbortSignal) => post(url, { body: o.body, signal }, o),
    ...(attachUrl !== undefined && {
      attach: (conversationUuid: string, lastEventId: string | undefined, signal: AbortSignal) =>
        post(
          typeof attachUrl === 'string' ? attachUrl : attachUrl(conversationUuid),
          {
            body: { conversationUuid },
            ...(lastEventId !== undefined && { headers: { 'Last-Event-ID': lastEventId } }),
            signal,
          },
          o,
        ),
    }),
    ...(o.resume !== undefined && { resume: o.resume }),
    signal: o.signal,
    callbacks: o,
  }
  return new RunStream<O>(source)
}

async function post(url: string, { body, headers, signal }: Post, o: Pick<OpenRunOptions, 'headers' | 'credentials'>) {
  const init: RequestInit = {
    method: 'POST',
    headers: {
      Accept: 'text/event-stream',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...o.headers,
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(o.credentials && { credentials: o.credentials }),
    signal,
  }
  const response = await fetch(url, init).catch((cause: unknown) => {
    throw new ConnectionError(`${url} cannot be reached`, { cause })
  })
  const isStream = response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isStream) await RunStream.fromResponse(response).withResponse()
  return { response, text: '', method: 'POST', url, attempts: 1 }
}
