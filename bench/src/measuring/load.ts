import { Pool } from 'undici'
import type { Subject } from '../subjects/subject.ts'
import { drive } from './drive.ts'
import { type Figures, percentile } from './rounds.ts'
import { type ReadStream, readStream } from './stream-reader.ts'

export interface LoadRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

/**
 * Sends `total` requests, `parallel` of them concurrently. A unit is one request.
 * @param request shared, or created for each request.
 * @throws Error for a status other than `expected`.
 */
export async function requestLoad(
  subject: Subject,
  request: LoadRequest | (() => LoadRequest),
  options: { total: number; parallel: number; expected?: number },
): Promise<Figures> {
  const pool = new Pool(subject.url, { connections: options.parallel, pipelining: 1 })
  const times: number[] = []
  const send = async (): Promise<void> => {
    const startedMs = performance.now()
    const { statusCode, body } = await pool.request(typeof request === 'function' ? request() : request)
    const text = await body.text()
    if (statusCode !== (options.expected ?? 200))
      throw new Error(`${subject.name}: ${statusCode} ${text.slice(0, 300)}`)
    times.push(performance.now() - startedMs)
  }
  const figures = await whileMeasured(subject, options.total, () => drive(options, send))
  await pool.close()
  return { ...figures, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) }
}

/** A unit is one upstream chunk. `p50Ms` and `p99Ms` are the times to the first text. */
export async function streamLoad(
  subject: Subject,
  request: LoadRequest,
  options: { streams: number; chunks: number },
): Promise<Figures> {
  const pool = new Pool(subject.url, { connections: options.streams, pipelining: 1, bodyTimeout: 0 })
  const read: ReadStream[] = []
  const figures = await whileMeasured(subject, options.streams * options.chunks, () =>
    drive({ total: options.streams, parallel: options.streams }, async () =>
      read.push(await readStream(pool, request)),
    ),
  )
  await pool.close()
  return { ...figures, ...streamFigures(read) }
}

export function streamFigures(read: readonly ReadStream[]): Figures {
  const firstTexts = read.map(({ firstTextMs }) => firstTextMs)
  const gaps = read.flatMap(({ gapsMs }) => gapsMs)
  return {
    p50Ms: percentile(firstTexts, 0.5),
    p99Ms: percentile(firstTexts, 0.99),
    wholeP50Ms: percentile(
      read.map(({ wholeMs }) => wholeMs),
      0.5,
    ),
    gapP99Ms: percentile(gaps, 0.99),
    late: read.filter(({ firstTextMs, wholeMs }) => firstTextMs > wholeMs / 2).length,
  }
}

async function whileMeasured(subject: Subject, units: number, work: () => Promise<unknown>): Promise<Figures> {
  const cpuBefore = subject.cpuMs()
  const startedMs = performance.now()
  await work()
  const seconds = (performance.now() - startedMs) / 1000
  const cpuMs = subject.cpuMs() - cpuBefore
  return { cpuMicros: (cpuMs * 1000) / units, unitsPerSecond: units / seconds, corePercent: cpuMs / seconds / 10 }
}
