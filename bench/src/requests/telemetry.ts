/**
 * `pnpm bench:telemetry`: plain runs of the same build without metrics (the control), the same in a second process, with
 * metrics, and with metrics and 10 % of the traces. The second control shows by how much two equal processes differ.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { requestLoad } from '../measuring/load.ts'
import { type Candidate, compare, loadMeasures } from '../measuring/rounds.ts'
import { closeAll, runRequest, type Stet, startStet, startUpstream } from '../subjects/candidates.ts'

const options = { total: Number(process.env['REQUESTS'] ?? 3_000), parallel: 64 }
const withoutMetrics = fileURLToPath(new URL('../../controls/no-metrics.ts', import.meta.url))

const upstream = await startUpstream({ CHUNKS: '50' })
const collector = createServer((req, res) => req.resume().on('end', () => res.end('{}'))).listen(0, '127.0.0.1')
await once(collector, 'listening')
const { port } = collector.address() as AddressInfo
const off = { NODE_OPTIONS: `--import ${withoutMetrics}` }
const tenth = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  OTEL_TRACES_SAMPLER: 'traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.1',
}
const [bare, again, measured, traced] = [
  await startStet(upstream.url, off),
  await startStet(upstream.url, off),
  await startStet(upstream.url),
  await startStet(upstream.url, tenth),
] as const

const candidate = (name: string, subject: Stet): Candidate => ({
  name,
  subject,
  round: () =>
    atBothLatencies((latencyMs) => requestLoad(subject, runRequest(false, subject.headers, { latencyMs }), options)),
})
await requireRuns(measured, true)
await requireRuns(bare, false)
await compare({
  bench: 'telemetry, 64 at once',
  measures: withColumnsAt0(loadMeasures, 'cpuMicros', 'unitsPerSecond', 'p50Ms'),
  control: candidate('no metrics', bare),
  others: [
    candidate('no metrics, another process', again),
    candidate('metrics', measured),
    candidate('metrics, 10 % of traces', traced),
  ],
})
await closeAll(bare, again, measured, traced, upstream)
collector.close()

/** Otherwise a changed metrics library would compare a server with itself. */
async function requireRuns(stet: Stet, isCounted: boolean): Promise<void> {
  await requestLoad(stet, runRequest(false, stet.headers, { latencyMs: 0 }), { total: 1, parallel: 1 })
  const text = await (await fetch(`${stet.url}/metrics`)).text()
  if (/^stet_runs_total\{/m.test(text) !== isCounted) throw new Error(`runs are ${isCounted ? 'not ' : ''}counted`)
}
