import type { StreamEvent } from '../index.ts'

/** Options for sending the events. */
export interface SseOptions {
  /** Breaks the connection after this many events. */
  dropAfter?: number
  /** The chunk size in bytes. Default: one event per chunk. */
  chunkBytes?: number
  /** Whether events have ids. Default: true. */
  ids?: boolean
}

/**
 * Returns a response that streams the events, as a server would send it.
 *
 * @example RunStream.fromResponse(sseResponse(events('Hello'), { dropAfter: 3 })) // rejects with StreamInterruptedError
 */
export function sseResponse(events: readonly StreamEvent[], o: SseOptions = {}): Response {
  const { dropAfter = Number.POSITIVE_INFINITY, ids = true } = o
  const sent = events.slice(0, dropAfter).map((event) => frameOf(event, ids))
  const chunks = o.chunkBytes ? cut(sent.join(''), o.chunkBytes) : sent.map((frame) => new TextEncoder().encode(frame))
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks.shift()
      if (chunk) controller.enqueue(chunk)
      else if (dropAfter < events.length) controller.error(new TypeError('terminated'))
      else controller.close()
    },
  })
  const uuid = events.map(({ data }) => ('uuid' in data ? data.uuid : undefined)).find((known) => known)
  return new Response(body, {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      ...(typeof uuid === 'string' && { 'X-Conversation-Uuid': uuid }),
    },
  })
}

function frameOf({ event, data, id }: StreamEvent, hasId: boolean): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${hasId && id ? `id: ${id}\n` : ''}\n`
}

function cut(text: string, size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, (at + 1) * size))
}
