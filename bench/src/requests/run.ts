/**
 * `pnpm bench:run`: plain runs of stet and of its controls (the provider itself, a raw proxy, Express and the Portkey
 * gateway). `BASELINE=<checkout>` adds another checkout's built server.
 */
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { type LoadRequest, requestLoad } from '../measuring/load.ts'
import { type Candidate, compare, type Figures, loadMeasures } from '../measuring/rounds.ts'
import {
  chatRequest,
  closeAll,
  runRequest,
  startBaseline,
  startControl,
  startStet,
  startUpstream,
} from '../subjects/candidates.ts'
import { startPortkey } from '../subjects/portkey.ts'
import type { Subject } from '../subjects/subject.ts'

const total = Number(process.env['REQUESTS'] ?? 3_000)

const upstream = await startUpstream({ CHUNKS: '50' })
const stet = await startStet(upstream.url)
const baseline = await startBaseline(upstream.url)
const environment = { UPSTREAM: upstream.url }
const raw = await startControl('raw-proxy', environment)
const bare = await startControl('bare-express', environment)
const shipped = await startControl('express-openai', environment)
const portkey = await startPortkey(upstream.url)

type Ask = (stream: boolean, headers: Record<string, string>, question: { latencyMs: number }) => LoadRequest

// Lower concurrency gets fewer requests, because each request waits for the provider's latency.
for (const { parallel, share } of [
  { parallel: 1, share: 1 / 30 },
  { parallel: 16, share: 1 / 2 },
  { parallel: 64, share: 1 },
]) {
  const options = { total: Math.ceil(total * share), parallel }
  const round = (subject: Subject, ask: Ask, headers: Record<string, string>): Promise<Figures> =>
    atBothLatencies((latencyMs) => requestLoad(subject, ask(false, headers, { latencyMs }), options))
  const candidate = (name: string, subject: Subject, ask: Ask = runRequest, headers = {}): Candidate => ({
    name,
    subject,
    round: () => round(subject, ask, headers),
  })
  await compare({
    bench: `run, ${parallel} at once`,
    measures: withColumnsAt0(loadMeasures, 'cpuMicros', 'unitsPerSecond', 'p50Ms'),
    control: candidate('raw node:http', raw),
    others: [
      { name: 'direct', round: async () => withoutCpu(await round(upstream, chatRequest, {})) },
      candidate('bare express + undici', bare),
      candidate('express + client as shipped', shipped),
      ...(portkey ? [candidate('portkey', portkey, chatRequest, portkey.headers)] : []),
      ...(baseline ? [candidate('stet (baseline)', baseline, runRequest, baseline.headers)] : []),
      candidate('stet', stet, runRequest, stet.headers),
    ],
  })
}
await closeAll(...(portkey ? [portkey] : []), ...(baseline ? [baseline] : []), stet, raw, bare, shipped, upstream)

/** Drops the CPU figures, because the provider's CPU belongs to no candidate. */
function withoutCpu(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).filter(([name]) => !/^(cpu|core)/.test(name)))
}
