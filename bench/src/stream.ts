/** `pnpm bench:stream`: paced streams (10 ms a chunk) and bursts; CPU per chunk, chunks per second, time to the first text. */

import { streamLoad } from './measuring/load.ts'
import { type Comparison, compare, loadMeasures } from './measuring/rounds.ts'
import { closeAll, runRequest, startControl, startStet, startUpstream } from './subjects/candidates.ts'

const chunks = Number(process.env['CHUNKS'] ?? 500)
const paced = Number(process.env['STREAMS'] ?? 200)

const upstream = await startUpstream({ CHUNKS: String(chunks), GAP_MS: '10' })
const stet = await startStet(upstream.url)
const raw = await startControl('raw-proxy', { UPSTREAM: upstream.url })
const shipped = await startControl('express-openai', { UPSTREAM: upstream.url })

const measures: Comparison['measures'] = [
  ...loadMeasures,
  { name: 'gapP99Ms', title: 'gap p99 ms', digits: 2, isCompared: true },
]
const bursts = [1, 64, 256].map((streams) => ({ pace: 'burst' as const, streams }))
for (const { pace, streams } of [{ pace: 'paced' as const, streams: paced }, ...bursts]) {
  const options = { streams, chunks }
  const request = (headers?: Record<string, string>) => runRequest(true, headers, { pace })
  await compare({
    bench: `stream, ${streams} ${pace}`,
    measures,
    control: { name: 'raw node:http', round: () => streamLoad(raw, request(), options) },
    others: [
      { name: 'express + client as shipped', round: () => streamLoad(shipped, request(), options) },
      { name: 'stet', round: () => streamLoad(stet, request(stet.headers), options) },
    ],
  })
}
await closeAll(stet, raw, shipped, upstream)
