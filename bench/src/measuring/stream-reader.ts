import type { Pool } from 'undici'
import type { LoadRequest } from './load.ts'

export interface ReadStream {
  /** Milliseconds from the request to the model's first text. */
  firstTextMs: number
  wholeMs: number
  gapsMs: number[]
  /** The read time of each event id, by `performance.now()`. Empty unless `withIds` is set. */
  idsAtMs: Map<number, number>
  bytes: number
}

export interface ReadOptions {
  /** Records the time of each event id, which takes CPU time in this process. */
  withIds?: boolean
  onHead?(headers: Record<string, string | string[] | undefined>): void
}

// Matches text in the provider's format and in stet's. Events that stet can send without the provider do not match.
const firstText = /"(?:content|text|textDelta)":"word/

/** @throws Error for a status other than 200, and for a stream without text. */
export async function readStream(pool: Pool, request: LoadRequest, options: ReadOptions = {}): Promise<ReadStream> {
  const startedMs = performance.now()
  const { statusCode, headers, body } = await pool.request(request)
  if (statusCode !== 200) throw new Error(`${request.path}: ${statusCode} ${await body.text()}`)
  options.onHead?.(headers)
  const read: ReadStream = { firstTextMs: 0, wholeMs: 0, gapsMs: [], idsAtMs: new Map(), bytes: 0 }
  let lastMs = 0
  let tail = ''
  for await (const chunk of body) {
    const nowMs = performance.now()
    read.bytes += (chunk as Buffer).length
    if (options.withIds) tail = noteIds(read.idsAtMs, tail + String(chunk), nowMs)
    if (read.firstTextMs > 0) read.gapsMs.push(nowMs - lastMs)
    else if (firstText.test(String(chunk))) read.firstTextMs = nowMs - startedMs
    lastMs = nowMs
  }
  if (read.firstTextMs === 0) throw new Error(`${request.path}: a stream without text`)
  read.wholeMs = performance.now() - startedMs
  return read
}

function noteIds(ids: Map<number, number>, text: string, nowMs: number): string {
  for (const [, id] of text.matchAll(/\nid: (\d+)\n/g)) ids.set(Number(id), nowMs)
  return text.slice(text.lastIndexOf('\n\n') + 2)
}
