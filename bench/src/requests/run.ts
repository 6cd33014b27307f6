/** `pnpm bench:run`: plain runs against a raw proxy, bare Express and Express with the client as shipped. */

import { requestLoad } from '../measuring/load.ts'
import { compare, loadMeasures } from '../measuring/rounds.ts'
import { closeAll, runRequest, startControl, startStet, startUpstream } from '../subjects/candidates.ts'

const total = Number(process.env['REQUESTS'] ?? 3_000)
const upstream = await startUpstream({ CHUNKS: '50' })
const stet = await startStet(upstream.url)
const environment = { UPSTREAM: upstream.url }
const raw = await startControl('raw-proxy', environment)
const bare = await startControl('bare-express', environment)
const shipped = await startControl('express-openai', environment)

for (const parallel of [1, 16, 64]) {
  const options = { total: parallel === 1 ? Math.ceil(total / 3) : total, parallel }
  await compare({
    bench: `run, ${parallel} at once`,
    measures: loadMeasures,
    control: { name: 'raw node:http', round: () => requestLoad(raw, runRequest(false), options) },
    others: [
      { name: 'bare express + undici', round: () => requestLoad(bare, runRequest(false), options) },
      { name: 'express + client as shipped', round: () => requestLoad(shipped, runRequest(false), options) },
      { name: 'stet', round: () => requestLoad(stet, runRequest(false, stet.headers), options) },
    ],
  })
}
await closeAll(stet, raw, bare, shipped, upstream)
