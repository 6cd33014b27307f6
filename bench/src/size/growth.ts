/** `pnpm bench:growth`: common requests on a project with many rows per resource, compared with ten rows. */

import { requestLoad } from '../measuring/load.ts'
import { compare, loadMeasures } from '../measuring/rounds.ts'
import { closeAll, startUpstream } from '../subjects/candidates.ts'
import { startFilledStet } from './filled-stet.ts'
import { asked } from './requests.ts'

const rows = Number(process.env['ROWS'] ?? 100_000)
const load = { total: Number(process.env['REQUESTS'] ?? 400), parallel: 8 }

const upstream = await startUpstream({ CHUNKS: '5' })
const few = await startFilledStet(upstream.url, 10, 1)
const many = await startFilledStet(upstream.url, rows, Math.ceil(rows / 100))
for (const { name, request } of asked) {
  await compare({
    bench: `growth, ${name}, ${rows} rows`,
    measures: loadMeasures,
    control: { name: '10 rows', round: () => requestLoad(few, () => request(few), load) },
    others: [{ name: 'many rows', round: () => requestLoad(many, () => request(many), load) }],
  })
}
await closeAll(few, many, upstream)
