/**
 * `pnpm bench:run`: plain runs against a raw proxy, bare Express and Express with the client as shipped, with a provider latency
 * of 100 ms and of 0. `BASELINE=<checkout>` adds the built server of another checkout.
 */
import { requestLoad } from '../measuring/load.ts'
import { compare, loadMeasures } from '../measuring/rounds.ts'
import { closeAll, runRequest, startBaseline, startControl, startStet, startUpstream } from '../subjects/candidates.ts'

const total = Number(process.env['REQUESTS'] ?? 3_000)
const upstream = await startUpstream({ CHUNKS: '50' })
const stet = await startStet(upstream.url)
const baseline = await startBaseline(upstream.url)
const environment = { UPSTREAM: upstream.url }
const raw = await startControl('raw-proxy', environment)
const bare = await startControl('bare-express', environment)
const shipped = await startControl('express-openai', environment)

for (const { latencyMs, parallel } of [
  { latencyMs: 100, parallel: 1 },
  { latencyMs: 100, parallel: 64 },
  { latencyMs: 0, parallel: 1 },
  { latencyMs: 0, parallel: 16 },
  { latencyMs: 0, parallel: 64 },
]) {
  const one = latencyMs === 0 ? Math.ceil(total / 3) : 100
  const options = { total: parallel === 1 ? one : total, parallel }
  const request = (headers?: Record<string, string>) => runRequest(false, headers, { latencyMs })
  await compare({
    bench: `run, provider answers after ${latencyMs} ms, ${parallel} at once`,
    measures: loadMeasures,
    control: { name: 'raw node:http', round: () => requestLoad(raw, request(), options) },
    others: [
      { name: 'bare express + undici', round: () => requestLoad(bare, request(), options) },
      { name: 'express + client as shipped', round: () => requestLoad(shipped, request(), options) },
      ...(baseline
        ? [{ name: 'stet (baseline)', round: () => requestLoad(baseline, request(baseline.headers), options) }]
        : []),
      { name: 'stet', round: () => requestLoad(stet, request(stet.headers), options) },
    ],
  })
}
await closeAll(...(baseline ? [baseline] : []), stet, raw, bare, shipped, upstream)
