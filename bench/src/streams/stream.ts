/** `pnpm bench:stream`: paced streams and bursts. Measures CPU per chunk and the time to the first text. */

import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { streamLoad } from '../measuring/load.ts'
import { type Candidate, type Comparison, compare, loadMeasures } from '../measuring/rounds.ts'
import {
  closeAll,
  type Pace,
  runRequest,
  startBaseline,
  startControl,
  startStet,
  startUpstream,
} from '../subjects/candidates.ts'
import type { Subject } from '../subjects/subject.ts'

const chunks = Number(process.env['CHUNKS'] ?? 200)
const together = Number(process.env['STREAMS'] ?? 200)

const upstream = await startUpstream({ CHUNKS: String(chunks) })
const stet = await startStet(upstream.url)
const baseline = await startBaseline(upstream.url)
const raw = await startControl('raw-proxy', { UPSTREAM: upstream.url })
const shipped = await startControl('express-openai', { UPSTREAM: upstream.url })

const measures: Comparison['measures'] = [
  ...loadMeasures,
  { name: 'wholeP50Ms', title: 'whole p50', digits: 0, isCompared: true },
  { name: 'gapP99Ms', title: 'gap p99', digits: 2, isCompared: false },
]

const cases: readonly { title: string; streams: number; pace: Pace; gapMs?: number }[] = [
  { title: `${together} paced`, streams: together, pace: 'paced', gapMs: 10 },
  { title: `${together} at 50 tokens/s`, streams: together, pace: 'paced', gapMs: 20 },
  { title: '1 burst', streams: 1, pace: 'burst' },
  { title: '64 burst', streams: 64, pace: 'burst' },
  { title: '256 burst', streams: 256, pace: 'burst' },
]
for (const { title, streams, ...question } of cases) {
  const candidate = (name: string, subject: Subject, headers: Record<string, string> = {}): Candidate => ({
    name,
    subject,
    round: () =>
      atBothLatencies((latencyMs) =>
        streamLoad(subject, runRequest(true, headers, { ...question, latencyMs }), { streams, chunks }),
      ),
  })
  await compare({
    bench: `stream, ${title}`,
    measures: withColumnsAt0(measures, 'cpuMicros', 'p50Ms', 'wholeP50Ms'),
    control: candidate('raw node:http', raw),
    others: [
      candidate('express + client as shipped', shipped),
      ...(baseline ? [candidate('stet (baseline)', baseline, baseline.headers)] : []),
      candidate('stet', stet, stet.headers),
    ],
  })
}
await closeAll(...(baseline ? [baseline] : []), stet, raw, shipped, upstream)
