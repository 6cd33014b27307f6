/** `pnpm bench:background`: time to accept, queue and run, compared with the same runs in the foreground. */
import { Pool } from 'undici'
import { drive } from '../measuring/drive.ts'
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { type Comparison, compare, type Figures, percentile } from '../measuring/rounds.ts'
import { readStream } from '../measuring/stream-reader.ts'
import { attachRequest, closeAll, runRequest, startStet, startUpstream } from '../subjects/candidates.ts'

const chunks = Number(process.env['CHUNKS'] ?? 100)
const queued = Number(process.env['STREAMS'] ?? 200)
/** The default number of concurrent background runs. All other queued runs wait. */
const workers = 25

const measures: Comparison['measures'] = [
  { name: 'cpuMicros', title: 'CPU µs/chunk', digits: 1, isCompared: true },
  { name: 'acceptP50Ms', title: 'accept p50', digits: 2, isCompared: false },
  { name: 'acceptP99Ms', title: 'accept p99', digits: 2, isCompared: false },
  { name: 'waitP50Ms', title: 'wait p50 ms', digits: 0, isCompared: false },
  { name: 'waitP99Ms', title: 'wait p99 ms', digits: 0, isCompared: false },
]

const upstream = await startUpstream({ CHUNKS: String(chunks) })
const stet = await startStet(upstream.url)
await compare({
  bench: `background, ${queued} queued, ${workers} at once`,
  measures: withColumnsAt0(measures, 'cpuMicros', 'acceptP50Ms', 'waitP50Ms'),
  control: { name: 'foreground', round: () => atBothLatencies(inForeground) },
  others: [{ name: 'background', subject: stet, round: () => atBothLatencies(inBackground) }],
})
await closeAll(stet, upstream)

/** Uses one connection per worker, so that only the mode differs. */
async function inForeground(latencyMs: number): Promise<Figures> {
  const pool = new Pool(stet.url, { connections: workers, bodyTimeout: 0 })
  const load = { total: queued, parallel: queued }
  return measured(pool, () => drive(load, () => readStream(pool, runRequest(true, stet.headers, { latencyMs }))))
}

async function inBackground(latencyMs: number): Promise<Figures> {
  const pool = new Pool(stet.url, { connections: queued, bodyTimeout: 0, headersTimeout: 0 })
  const accepts: number[] = []
  const waits: number[] = []
  const one = async (): Promise<void> => {
    const startedMs = performance.now()
    const { statusCode, body } = await pool.request(runRequest(false, stet.headers, { background: true, latencyMs }))
    if (statusCode !== 200) throw new Error(`background: ${statusCode} ${await body.text()}`)
    const { uuid } = (await body.json()) as { uuid: string }
    accepts.push(performance.now() - startedMs)
    const read = await readStream(pool, attachRequest(uuid, stet.headers))
    waits.push(read.firstTextMs)
  }
  const figures = await measured(pool, () => drive({ total: queued, parallel: queued }, one))
  return {
    ...figures,
    acceptP50Ms: percentile(accepts, 0.5),
    acceptP99Ms: percentile(accepts, 0.99),
    waitP50Ms: percentile(waits, 0.5),
    waitP99Ms: percentile(waits, 0.99),
  }
}

async function measured(pool: Pool, work: () => Promise<unknown>): Promise<Figures> {
  const cpuBefore = stet.cpuMs()
  await work()
  const cpuMs = stet.cpuMs() - cpuBefore
  await pool.close()
  return { cpuMicros: (cpuMs * 1000) / (queued * chunks) }
}
