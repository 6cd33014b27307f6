/** `pnpm bench:fetch`: GET of a live prompt, plain and by ETag, compared with prepared bytes and `res.json`. */

import { requestLoad } from '../measuring/load.ts'
import { compare, loadMeasures } from '../measuring/rounds.ts'
import { closeAll, startBaseline, startControl, startStet, startUpstream } from '../subjects/candidates.ts'

const path = '/api/v3/projects/1/versions/live/documents/bench'
const total = Number(process.env['REQUESTS'] ?? 8_000)
const parallel = 32

const upstream = await startUpstream()
const stet = await startStet(upstream.url)
const baseline = await startBaseline(upstream.url)
const example = await fetch(`${stet.url}${path}`, { headers: stet.headers })
const etag = example.headers.get('etag') ?? ''
const body = await example.text()
const raw = await startControl('raw-proxy', { READY_BODY: body, UPSTREAM: upstream.url })
const bare = await startControl('bare-express', { READY_BODY: body, UPSTREAM: upstream.url })

const get = (headers: Record<string, string> = {}) => ({ method: 'GET' as const, path, headers })
await compare({
  bench: 'fetch',
  measures: loadMeasures,
  control: { name: 'bare express res.json', round: () => requestLoad(bare, get(), { total, parallel }) },
  others: [
    { name: 'raw node:http', round: () => requestLoad(raw, get(), { total, parallel }) },
    ...(baseline
      ? [
          {
            name: 'stet (baseline)',
            subject: baseline,
            round: () => requestLoad(baseline, get(baseline.headers), { total, parallel }),
          },
        ]
      : []),
    { name: 'stet', subject: stet, round: () => requestLoad(stet, get(stet.headers), { total, parallel }) },
    {
      name: 'stet, If-None-Match',
      round: () =>
        requestLoad(stet, get({ ...stet.headers, 'if-none-match': etag }), { total, parallel, expected: 304 }),
    },
  ],
})
await closeAll(...(baseline ? [baseline] : []), stet, raw, bare, upstream)
