import type { AsyncIterableStream, StreamEvent } from '../events.ts'

const PING_MS = 15_000

export async function* textOf(events: AsyncIterable<StreamEvent>): AsyncGenerator<string> {
  for await (const { event, data } of events) {
    if (event === 'provider-event' && data.type === 'text-delta') yield data.textDelta
  }
}

/**
 * Converts an iterable to a stream that `for await` can read in every runtime. Canceling the stream ends the source's
 * iterator. `ping` returns the chunk to send every 15 seconds while the source is silent.
 */
export function readableOf<T>(source: AsyncIterable<T>, ping?: () => T): AsyncIterableStream<T> {
  const iterator = source[Symbol.asyncIterator]()
  let timer: ReturnType<typeof setInterval> | undefined
  const stream = new ReadableStream<T>({
    async pull(controller) {
      // Ping only while the queue has room. Otherwise, the pings of an unread stream would pile up.
      if (ping) timer = setInterval(() => controller.desiredSize && controller.enqueue(ping()), PING_MS)
      try {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        controller.error(error)
      }
      clearInterval(timer)
    },
    cancel() {
      clearInterval(timer)
      // Do not await: a generator settles return() only after its pending event.
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
