/**
 * `pnpm bench:slow`: many readers next to one client of a 20 MB stream. The client reads either nothing or everything.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { drive } from '../measuring/drive.ts'
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { streamFigures } from '../measuring/load.ts'
import { type Comparison, compare, type Figures } from '../measuring/rounds.ts'
import { type ReadStream, readStream } from '../measuring/stream-reader.ts'
import { attachRequest, closeAll, runRequest, startStet, startUpstream, stopRequest } from '../subjects/candidates.ts'

const readers = Number(process.env['STREAMS'] ?? 100)
const chunks = Number(process.env['CHUNKS'] ?? 250)

const measures: Comparison['measures'] = [
  { name: 'gapP99Ms', title: 'gap p99 ms', digits: 2, isCompared: true },
  { name: 'p99Ms', title: 'text p99 ms', digits: 2, isCompared: true },
  { name: 'grownMegabytes', title: 'grown MB', digits: 1, isCompared: false },
]

const upstream = await startUpstream({ CHUNKS: String(chunks) })
const stet = await startStet(upstream.url)
await compare({
  bench: `slow, ${readers} readers`,
  measures: withColumnsAt0(measures, 'gapP99Ms', 'p99Ms'),
  control: { name: 'all read', round: () => atBothLatencies((latencyMs) => round(false, latencyMs)) },
  others: [{ name: 'one stalls', subject: stet, round: () => atBothLatencies((latencyMs) => round(true, latencyMs)) }],
})
await closeAll(stet, upstream)

async function round(isStalled: boolean, latencyMs: number): Promise<Figures> {
  const pool = new Pool(stet.url, { connections: readers, bodyTimeout: 0 })
  const other = new Pool(stet.url, { connections: 1, bodyTimeout: 0 })
  const bytesBefore = stet.residentBytes()
  let mostBytes = bytesBefore
  const { headers, body } = await other.request(runRequest(true, stet.headers, { pace: 'flood', latencyMs }))
  body.on('error', () => {})
  if (!isStalled) body.resume()
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      mostBytes = Math.max(mostBytes, stet.residentBytes())
      await pause(200)
    }
  })()
  const read: ReadStream[] = []
  await drive({ total: readers, parallel: readers }, async () =>
    read.push(await readStream(pool, runRequest(true, stet.headers, { latencyMs }))),
  )
  isOver = true
  await watching
  body.destroy()
  // Stops the large run and waits for its end, so that it does not affect the next round.
  const uuid = String(headers['x-conversation-uuid'])
  for (const request of [stopRequest(uuid, stet.headers), attachRequest(uuid, stet.headers, false)])
    await (await pool.request(request)).body.text()
  await Promise.all([pool.close(), other.destroy()])
  return { ...streamFigures(read), grownMegabytes: (mostBytes - bytesBefore) / 1_048_576 }
}
