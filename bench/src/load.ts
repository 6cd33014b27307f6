/** The load side: many requests at once over kept-alive sockets, timed one by one. */
import { Pool } from 'undici'
import { type Figures, percentile } from './rounds.ts'
import type { Subject } from './subject.ts'

export interface LoadRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

/** Sends `total` requests, `parallel` at once; a unit is one request. @throws Error for any answer that is not `expected`. */
export async function requestLoad(
  subject: Subject,
  request: LoadRequest,
  options: { total: number; parallel: number; expected?: number },
): Promise<Figures> {
  const pool = new Pool(subject.url, { connections: options.parallel, pipelining: 1 })
  const times: number[] = []
  let left = options.total
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const startedMs = performance.now()
      const { statusCode, body } = await pool.request(request)
      const text = await body.text()
      if (statusCode !== (options.expected ?? 200))
        throw new Error(`${subject.name}: ${statusCode} ${text.slice(0, 300)}`)
      times.push(performance.now() - startedMs)
    }
  }
  const cpuBefore = subject.cpuMs()
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: options.parallel }, worker))
  const seconds = (performance.now() - startedMs) / 1000
  const cpuMs = subject.cpuMs() - cpuBefore
  await pool.close()
  return {
    cpuMsPerUnit: cpuMs / options.total,
    unitsPerSecond: options.total / seconds,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  }
}

/** Reads `streams` event streams at once to their end; a unit is one upstream chunk, the times are those of the first text. */
export async function streamLoad(
  subject: Subject,
  request: LoadRequest,
  options: { streams: number; chunks: number; firstText: string },
): Promise<Figures> {
  const pool = new Pool(subject.url, { connections: options.streams, pipelining: 1, bodyTimeout: 0 })
  const firstTexts: number[] = []
  const one = async (): Promise<void> => {
    const startedMs = performance.now()
    const { statusCode, body } = await pool.request(request)
    if (statusCode !== 200) throw new Error(`${subject.name}: ${statusCode} ${await body.text()}`)
    let isFirst = true
    let tail = ''
    for await (const chunk of body) {
      if (!isFirst) continue
      tail += String(chunk)
      if (!tail.includes(options.firstText)) continue
      firstTexts.push(performance.now() - startedMs)
      isFirst = false
    }
    if (isFirst) throw new Error(`${subject.name}: a stream without text`)
  }
  const cpuBefore = subject.cpuMs()
  const startedMs = performance.now()
  await Promise.all(Array.from({ length: options.streams }, one))
  const seconds = (performance.now() - startedMs) / 1000
  const cpuMs = subject.cpuMs() - cpuBefore
  await pool.close()
  const chunks = options.streams * options.chunks
  return {
    cpuMsPerUnit: cpuMs / chunks,
    unitsPerSecond: chunks / seconds,
    p50Ms: percentile(firstTexts, 0.5),
    p99Ms: percentile(firstTexts, 0.99),
  }
}
