/** `pnpm bench:attach`: one run with many readers, and the replay of an ended run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { requestLoad } from '../measuring/load.ts'
import { type Comparison, compare, type Figures, loadMeasures, percentile } from '../measuring/rounds.ts'
import { type ReadStream, readStream } from '../measuring/stream-reader.ts'
import { attachRequest, closeAll, runRequest, startControl, startStet, startUpstream } from '../subjects/candidates.ts'

const chunks = 300
const replayedEvents = Number(process.env['EVENTS'] ?? 10_000)
const replays = Number(process.env['REQUESTS'] ?? 60)

await compareReaders()
await compareReplay()

async function compareReaders(): Promise<void> {
  const upstream = await startUpstream({ CHUNKS: String(chunks) })
  const stet = await startStet(upstream.url)
  const measures: Comparison['measures'] = [
    { name: 'cpuMicros', title: 'µs/delivery', digits: 1, isCompared: true },
    { name: 'lagP50Ms', title: 'lag p50 ms', digits: 2, isCompared: false },
    { name: 'lagP99Ms', title: 'lag p99 ms', digits: 2, isCompared: false },
  ]
  // One reader uses too little CPU to measure, so rounds with fewer readers have more runs.
  const round = (readers: number, runs: number): Promise<Figures> =>
    atBothLatencies((latencyMs) => roundAt(latencyMs, readers, runs))
  const roundAt = async (latencyMs: number, readers: number, runs: number): Promise<Figures> => {
    const pool = new Pool(stet.url, { connections: readers * runs, bodyTimeout: 0 })
    const cpuBefore = stet.cpuMs()
    const groups = await Promise.all(Array.from({ length: runs }, () => readTogether(pool, readers, latencyMs)))
    const cpuMs = stet.cpuMs() - cpuBefore
    await pool.close()
    const lags = groups.flatMap(lagsOf)
    const deliveries = groups.flat().reduce((sum, { idsAtMs }) => sum + idsAtMs.size, 0)
    return {
      cpuMicros: (cpuMs * 1000) / deliveries,
      lagP50Ms: percentile(lags, 0.5),
      lagP99Ms: percentile(lags, 0.99),
    }
  }
  const readTogether = async (pool: Pool, readers: number, latencyMs: number): Promise<ReadStream[]> => {
    const attached: Promise<ReadStream>[] = []
    const first = await readStream(pool, runRequest(true, stet.headers, { latencyMs }), {
      withIds: true,
      onHead: (headers) => {
        const request = attachRequest(String(headers['x-conversation-uuid']), stet.headers)
        for (let reader = 1; reader < readers; reader += 1) attached.push(readStream(pool, request, { withIds: true }))
      },
    })
    return [first, ...(await Promise.all(attached))]
  }
  await compare({
    bench: `attach, one run of ${chunks} paced chunks`,
    measures: withColumnsAt0(measures, 'cpuMicros', 'lagP50Ms'),
    control: { name: '1 reader', round: () => round(1, 50) },
    others: [
      { name: '50 readers', round: () => round(50, 2) },
      { name: '200 readers', subject: stet, round: () => round(200, 1) },
    ],
  })
  await closeAll(stet, upstream)
}

/** Returns the delay in ms between the first and the last delivery of each event, except at the beginning of the run. */
function lagsOf(readers: readonly ReadStream[]): number[] {
  const [first] = readers
  // Skips the beginning. Readers attach one after the other, so some get the beginning as history.
  const ids = [...(first?.idsAtMs.keys() ?? [])].slice(chunks / 2)
  return ids.map((id) => {
    const times = readers.map(({ idsAtMs }) => idsAtMs.get(id) ?? Number.NaN)
    return Math.max(...times) - Math.min(...times)
  })
}

async function compareReplay(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stet-bench-'))
  const upstream = await startUpstream({ CHUNKS: String(replayedEvents) })
  const stet = await startStet(upstream.url)
  let uuid = ''
  const pool = new Pool(stet.url)
  await readStream(pool, runRequest(true, stet.headers, { pace: 'burst' }), {
    onHead: (headers) => {
      uuid = String(headers['x-conversation-uuid'])
    },
  })
  const request = attachRequest(uuid, stet.headers)
  const { body } = await pool.request(request)
  writeFileSync(join(folder, 'replay'), await body.text())
  await pool.close()
  const raw = await startControl('raw-proxy', { READY_FILE: join(folder, 'replay') })
  const options = { total: replays, parallel: 4 }
  const bytes = { method: 'GET' as const, path: '/', headers: {} }
  await compare({
    bench: `attach, replay of ${replayedEvents} events`,
    measures: loadMeasures,
    control: { name: 'raw node:http, same bytes', round: () => requestLoad(raw, bytes, options) },
    others: [{ name: 'stet', subject: stet, round: () => requestLoad(stet, request, options) }],
  })
  await closeAll(stet, raw, upstream)
  rmSync(folder, { recursive: true, force: true })
}
