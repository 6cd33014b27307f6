import type { Stet, StreamEvent } from '@stet/sdk'
import type { Finding } from './checks.ts'

/** `startedAt`, `firstAt` and `lastAt` are milliseconds of the monotonic clock. */
export interface StreamTimes {
  startedAt: number
  firstAt: number
  lastAt: number
  /** Milliseconds between the server's first and last event, by the server's clock. */
  madeMs: number
  contentType: string
  /** True if the response has a content length. A live stream has none, but a buffering proxy adds one. */
  hasLength: boolean
}

/** Shorter streams end too early to show whether a proxy buffers them. */
const MIN_LIVE_MS = 400
/** The events of a live stream arrive over at least this share of the time in which the server produced them. */
const MIN_SPREAD = 0.1

export async function checkStreaming(
  client: Stet,
  prompt: { path: string; parameters: Record<string, unknown>; versionUuid: string } | undefined,
): Promise<Finding> {
  if (prompt === undefined) {
    const [newest] = (await client.conversations.list({ status: 'completed', limit: 1 })).items
    if (!newest)
      return { name: 'stream', status: 'skip', message: 'no finished conversation; use --prompt <path> to run one' }
    return judge(await look(client, (watching) => watching.runs.attachStream(newest.uuid)), false)
  }
  const { path, ...options } = prompt
  const lookAtRun = () => look(client, (watching) => watching.prompts.stream(path, options))
  const seen = await lookAtRun()
  // A busy machine can deliver separate events together. This rarely happens twice.
  return judge(seen && cameAtOnce(seen) ? await lookAtRun() : seen, true)
}

/** @param isLive false for a replay */
export function judge(times: StreamTimes | undefined, isLive: boolean): Finding {
  const fail = (message: string): Finding => ({ name: 'stream', status: 'fail', message })
  if (!times) return fail('no event arrived')
  const { startedAt, lastAt, madeMs, contentType, hasLength } = times
  const seconds = `${((lastAt - startedAt) / 1000).toFixed(1)} s`
  if (!contentType.startsWith('text/event-stream')) return fail(`response had ${contentType || 'no content type'}`)
  if (hasLength)
    return fail(`the stream arrived with a content length after ${seconds}: a proxy seems to buffer text/event-stream`)
  if (!isLive)
    return {
      name: 'stream',
      status: 'ok',
      message: 'a finished run arrives as a stream; use --prompt <path> to test a live one',
    }
  if (madeMs < MIN_LIVE_MS)
    return { name: 'stream', status: 'ok', message: `ended after ${seconds}: too short to judge` }
  if (cameAtOnce(times))
    return fail(`all events arrived at once after ${seconds}: a proxy seems to buffer text/event-stream`)
  return { name: 'stream', status: 'ok', message: `events arrive live, over ${seconds}` }
}

// Compares with the production time instead of the total time, because a slow start is not buffering.
function cameAtOnce({ firstAt, lastAt, madeMs, hasLength }: StreamTimes): boolean {
  return !hasLength && madeMs >= MIN_LIVE_MS && lastAt - firstAt < MIN_SPREAD * madeMs
}

async function look(
  client: Stet,
  open: (watching: Stet) => AsyncIterable<StreamEvent>,
): Promise<StreamTimes | undefined> {
  const watched = watch()
  const stamps: number[] = []
  for await (const { event, data } of open(client.withOptions({ fetch: watched.fetch }))) {
    if (event === 'latitude-event') stamps.push(data.timestamp)
  }
  const times = watched.times()
  return times && { ...times, madeMs: (stamps.at(-1) ?? 0) - (stamps[0] ?? 0) }
}

type ArrivalTimes = Omit<StreamTimes, 'madeMs'>

function watch(): { fetch: typeof globalThis.fetch; times(): ArrivalTimes | undefined } {
  let times: ArrivalTimes | undefined
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
