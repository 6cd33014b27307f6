/**
 * `pnpm bench:mix`: plain runs, beside GETs of 1,000 live prompts by clients with 20 keys at a fixed rate. A few prompts
 * get most of the reads (Zipf). CPU is per run, and includes the reads. `READS_PER_SECOND=0` shows the runs alone.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { type LoadRequest, requestLoad } from '../measuring/load.ts'
import { type Candidate, compare, type Figures, loadMeasures } from '../measuring/rounds.ts'
import {
  addKey,
  addPrompts,
  closeAll,
  runRequest,
  type Stet,
  startBaseline,
  startControl,
  startStet,
  startUpstream,
} from '../subjects/candidates.ts'

const total = Number(process.env['REQUESTS'] ?? 1_500)
const readsPerSecond = Number(process.env['READS_PER_SECOND'] ?? 200)
const parallel = 16
const prompts = Array.from({ length: 1_000 }, (_, place) => `mix/prompt-${place}`)
const tickMs = 20

/** Sends reads at the rate until stopped, whether or not earlier ones are answered. Resolves to their number. */
async function read(stet: Stet, keys: readonly string[], isDone: () => boolean): Promise<number> {
  const pool = new Pool(stet.url, { connections: 20, pipelining: 1 })
  const startedMs = performance.now()
  const open = new Set<Promise<void>>()
  let sent = 0
  while (!isDone()) {
    for (const due = ((performance.now() - startedMs) * readsPerSecond) / 1000; sent < due; sent += 1) {
      const reading = readOne(pool, keys[sent % keys.length] ?? '').finally(() => open.delete(reading))
      open.add(reading)
    }
    await pause(tickMs)
  }
  await Promise.all(open)
  await pool.close()
  return sent
}

async function readOne(pool: Pool, key: string): Promise<void> {
  // The inverse of the distribution of Zipf's law with exponent 1.
  const place = Math.floor(prompts.length ** Math.random()) - 1
  const path = `/api/v3/projects/1/versions/live/documents/${prompts[place]}`
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { authorization: key } })
  await body.dump()
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`)
}

const upstream = await startUpstream({ CHUNKS: '50' })
const raw = await startControl('raw-proxy', { UPSTREAM: upstream.url })
const request = (headers: Record<string, string>): LoadRequest => runRequest(false, headers)

async function candidate(name: string, stet: Stet): Promise<Candidate> {
  await addPrompts(stet, prompts)
  const keys = await Promise.all(Array.from({ length: 20 }, () => addKey(stet)))
  const round = async (): Promise<Figures> => {
    let isDone = false
    const reading = read(stet, keys, () => isDone)
    const figures = await requestLoad(stet, request(stet.headers), { total, parallel })
    isDone = true
    return { ...figures, reads: await reading }
  }
  return { name, subject: stet, round }
}

const stet = await startStet(upstream.url)
const baseline = await startBaseline(upstream.url)
await compare({
  bench: 'mix',
  measures: [...loadMeasures, { name: 'reads', title: 'reads', digits: 0, isCompared: false }],
  control: { name: 'raw node:http', round: () => requestLoad(raw, request({}), { total, parallel }) },
  others: [...(baseline ? [await candidate('stet (baseline)', baseline)] : []), await candidate('stet', stet)],
})
await closeAll(...(baseline ? [baseline] : []), stet, raw, upstream)
