import { RunError } from '../errors.ts'
import type { AsyncIterableStream, StreamEvent } from './events.ts'
import { parsePartialJson } from './partial-json.ts'

const PING_MS = 15_000

/** The answer text, delta by delta, over all steps. */
export async function* textOf(events: AsyncIterable<StreamEvent>): AsyncGenerator<string> {
  for await (const { event, data } of events) {
    if (event === 'provider-event' && data.type === 'text-delta') yield data.textDelta
  }
}

/** The structured answer as it grows; the last value is the complete one. */
export async function* objectsOf(events: AsyncIterable<StreamEvent>): AsyncGenerator<unknown> {
  let text = ''
  let shown: string | undefined
  for await (const { data } of events) {
    let value: unknown
    if (data.type === 'step-started') text = ''
    else if (data.type === 'text-delta') {
      text += data.textDelta
      value = parsePartialJson(text)
    } else if (data.type === 'provider-completed') value = data.response.object
    const next = value === undefined ? undefined : JSON.stringify(value)
    if (next === undefined || next === shown) continue
    shown = next
    yield value
  }
}

/**
 * A stream that `for await` reads in every runtime; leaving it early ends the source's iterator. `ping` gives what fills
 * silences.
 */
export function readableOf<T>(source: AsyncIterable<T>, ping?: () => T): AsyncIterableStream<T> {
  const iterator = source[Symbol.asyncIterator]()
  let timer: ReturnType<typeof setInterval> | undefined
  const stream = new ReadableStream<T>({
    start(controller) {
      if (ping) timer = setInterval(() => controller.enqueue(ping()), PING_MS)
    },
    async pull(controller) {
      try {
        const { done, value } = await iterator.next()
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      clearInterval(timer)
    },
    cancel() {
      clearInterval(timer)
      // not awaited: a generator answers return() only after the event that it waits for
      void iterator.return?.()
    },
  })
  if (!(Symbol.asyncIterator in stream))
    Object.defineProperty(stream, Symbol.asyncIterator, { value: () => walk(stream) })
  return stream as AsyncIterableStream<T>
}

async function* walk<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/**
 * The events as the bytes of an event stream, ids kept. A run that failed ends it with its chain-error; a stream that was
 * cut errors, so that the reader knows.
 */
export function framesOf(events: AsyncIterable<StreamEvent>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  async function* frames() {
    try {
      for await (const event of events) yield encoder.encode(frameOf(event))
    } catch (error) {
      if (!(error instanceof RunError)) throw error
    }
  }
  return readableOf(frames(), () => encoder.encode(': ping\n\n'))
}

function frameOf({ event, data, id }: StreamEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${id && `id: ${id}\n`}\n`
}
