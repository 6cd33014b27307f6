import { AbortError, type AsyncIterableStream, RunError, type StreamEvent } from '../index.ts'
import { readableOf } from '../views/readable.ts'
import { type UIMessageChunk, UIMessageWriter } from './ui-message-writer.ts'

/** A `RunStream` with any kind of response. */
export interface UIMessageSource extends AsyncIterable<StreamEvent> {
  readonly conversationUuid: string | undefined
}

/** Selects data that the page receives in addition to the response. Default: none. */
export interface UIMessageOptions {
  /** With `errors`, the page receives the actual error message instead of a fixed text. */
  expose?: readonly 'errors'[]
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
  'X-Vercel-AI-UI-Message-Stream': 'v1',
}

/**
 * Converts a run into the AI SDK's UI message stream: text, reasoning, tool calls with results, sources and files. The
 * message metadata includes `conversationUuid`, and at the end also `finishReason` and `usage`. A failed run ends with
 * an error chunk, an aborted or detached stream with an abort chunk. The page does not receive the prompt's messages,
 * configuration or ids.
 *
 * @example for await (const chunk of toUIMessageStream(stream)) console.log(chunk.type)
 */
export function toUIMessageStream(s: UIMessageSource, o: UIMessageOptions = {}): AsyncIterableStream<UIMessageChunk> {
  return readableOf(chunksOf(s, o))
}

/**
 * Returns the HTTP response for a route that `useChat` calls.
 *
 * @example
 * export async function POST(request: Request) {
 *   const { messages } = await request.json()
 *   const { stream } = await stet.prompts.stream('chat', { parameters: { question: textOf(messages.at(-1)) } }).withResponse()
 *   return toUIMessageStreamResponse(stream)
 * }
 */
export function toUIMessageStreamResponse(
  s: UIMessageSource,
  { expose = [], ...init }: ResponseInit & UIMessageOptions = {},
): Response {
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(HEADERS)) if (!headers.has(name)) headers.set(name, value)
  const encoder = new TextEncoder()
  async function* frames() {
    for await (const chunk of chunksOf(s, { expose })) yield encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`)
    yield encoder.encode('data: [DONE]\n\n')
  }
  return new Response(
    readableOf(frames(), () => encoder.encode(': ping\n')),
    { ...init, headers },
  )
}

async function* chunksOf(s: UIMessageSource, { expose = [] }: UIMessageOptions): AsyncGenerator<UIMessageChunk> {
  const writer = new UIMessageWriter()
  try {
    for await (const event of s) yield* writer.write(event)
    yield* writer.end()
  } catch (error) {
    yield* writer.start(s.conversationUuid)
    yield* writer.close()
    if (error instanceof AbortError) yield { type: 'abort' }
    // By default, send a fixed text, because error messages can reveal server paths, providers and addresses.
    else yield { type: 'error', errorText: expose.includes('errors') ? messageOf(error) : failureOf(error) }
  }
}

function failureOf(error: unknown): string {
  return error instanceof RunError ? 'The run failed' : 'The run could not be read'
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
