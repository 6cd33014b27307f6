import type { Stet } from '@stet/sdk'
import type { Finding } from './finding.ts'

/** What was seen of one event stream. Times in milliseconds of the monotonic clock. */
export interface StreamTimes {
  startedAt: number
  firstAt: number
  lastAt: number
  contentType: string
  /** Only what collects an answer before passing it on knows its length. */
  hasLength: boolean
}

/** Below this a stream is over too soon to tell whether it came in pieces. */
const MIN_LIVE_MS = 400
/** Of a stream that comes as it is made, more time than this share lies between its first and its last byte. */
const MIN_SPREAD = 0.1

/** Runs a prompt live, or replays the newest finished conversation, and watches how the events arrive. */
export async function checkStreaming(client: Stet, prompt: string | undefined): Promise<Finding> {
  const watched = watch()
  const watching = client.withOptions({ fetch: watched.fetch })
  if (prompt === undefined) {
    const [newest] = (await client.conversations.list({ status: 'completed', limit: 1 })).items
    if (!newest)
      return { name: 'stream', status: 'skip', message: 'no finished conversation; --prompt <path> runs one' }
    await drain(watching.runs.attachStream(newest.uuid))
  } else await drain(watching.prompts.stream(prompt))
  return judge(watched.times(), prompt !== undefined)
}

/** What the times say. @param isLive whether the events were made while they were watched */
export function judge(times: StreamTimes | undefined, isLive: boolean): Finding {
  const fail = (message: string): Finding => ({ name: 'stream', status: 'fail', message })
  if (!times) return fail('no event arrived')
  const { startedAt, firstAt, lastAt, contentType, hasLength } = times
  const total = lastAt - startedAt
  const seconds = `${(total / 1000).toFixed(1)} s`
  if (!contentType.startsWith('text/event-stream')) return fail(`answered with ${contentType || 'no content type'}`)
  if (hasLength)
    return fail(`the stream came with a length after ${seconds}: a proxy seems to collect text/event-stream`)
  if (!isLive)
    return {
      name: 'stream',
      status: 'ok',
      message: 'a finished run arrives as a stream; --prompt <path> tries a live one',
    }
  if (total < MIN_LIVE_MS)
    return { name: 'stream', status: 'ok', message: `over after ${seconds}: too soon to see more` }
  if ((lastAt - firstAt) / total < MIN_SPREAD) {
    return fail(`all events arrived at once after ${seconds}: a proxy seems to buffer text/event-stream`)
  }
  return { name: 'stream', status: 'ok', message: `events arrive as they are made, over ${seconds}` }
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events) {
    // only the times matter
  }
}

function watch(): { fetch: typeof globalThis.fetch; times(): StreamTimes | undefined } {
  let times: StreamTimes | undefined
  return {
    times: () => times,
    fetch: async (input, init) => {
      const startedAt = performance.now()
      const response = await globalThis.fetch(input, init)
      if (!response.ok || !response.body) return response
      const { headers } = response
      const noting = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          const now = performance.now()
          const contentType = headers.get('content-type') ?? ''
          times ??= { startedAt, firstAt: now, lastAt: now, contentType, hasLength: headers.has('content-length') }
          times.lastAt = now
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body.pipeThrough(noting), response)
    },
  }
}
