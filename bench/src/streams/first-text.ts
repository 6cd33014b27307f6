/** `pnpm bench:first-text`: the time to the first text of a paced stream while bursts keep the core busy. */
import { Pool } from 'undici'
import { drive } from '../measuring/drive.ts'
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { streamLoad } from '../measuring/load.ts'
import { type Comparison, compare, type Figures } from '../measuring/rounds.ts'
import { readStream } from '../measuring/stream-reader.ts'
import { closeAll, runRequest, startControl, startStet, startUpstream } from '../subjects/candidates.ts'
import type { Subject } from '../subjects/subject.ts'

const chunks = 50
/** The number of connections that read streams without pauses, back to back. They use all remaining CPU. */
const saturating = 8

const measures: Comparison['measures'] = [
  { name: 'p50Ms', title: 'p50 ms', digits: 1, isCompared: true },
  { name: 'p99Ms', title: 'p99 ms', digits: 1, isCompared: true },
  { name: 'late', title: 'late streams', digits: 0, isCompared: false },
]

const upstream = await startUpstream({ CHUNKS: String(chunks) })
const stet = await startStet(upstream.url)
const raw = await startControl('raw-proxy', { UPSTREAM: upstream.url })
const shipped = await startControl('express-openai', { UPSTREAM: upstream.url })

for (const streams of [1, 64, 256]) {
  await compare({
    bench: `first text, ${streams} at once under load`,
    measures: withColumnsAt0(measures, 'p50Ms', 'p99Ms', 'late'),
    control: { name: 'raw node:http', round: () => underLoad(raw, streams) },
    others: [
      { name: 'express + client as shipped', round: () => underLoad(shipped, streams) },
      { name: 'stet', subject: stet, round: () => underLoad(stet, streams, stet.headers) },
    ],
  })
}
await closeAll(stet, raw, shipped, upstream)

function underLoad(subject: Subject, streams: number, headers?: Record<string, string>): Promise<Figures> {
  return atBothLatencies((latencyMs) => underLoadAt(subject, streams, { latencyMs, headers }))
}

async function underLoadAt(
  subject: Subject,
  streams: number,
  { latencyMs, headers }: { latencyMs: number; headers: Record<string, string> | undefined },
): Promise<Figures> {
  const pool = new Pool(subject.url, { connections: saturating })
  const over = new AbortController()
  const load = drive({ parallel: saturating, until: over.signal }, () =>
    readStream(pool, runRequest(true, headers, { pace: 'burst', latencyMs })),
  )
  const figures = await streamLoad(subject, runRequest(true, headers, { latencyMs }), { streams, chunks })
  over.abort()
  await load
  await pool.close()
  return figures
}
