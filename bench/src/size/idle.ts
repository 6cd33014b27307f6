/** `pnpm bench:idle`: the memory of idle streams, and the memory that remains after they close. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import { drive } from '../measuring/drive.ts'
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import type { LoadRequest } from '../measuring/load.ts'
import { type Comparison, compare, type Figures } from '../measuring/rounds.ts'
import { settledBytes } from '../measuring/settled-bytes.ts'
import { attachRequest, runRequest, startControl, startStet, startUpstream } from '../subjects/candidates.ts'
import type { Subject } from '../subjects/subject.ts'

const counts = (process.env['STREAMS'] ?? '1000,5000').split(',').map(Number)

const measures: Comparison['measures'] = [
  { name: 'kilobytes', title: 'KB/stream', digits: 1, isCompared: true },
  { name: 'leftKilobytes', title: 'left KB', digits: 1, isCompared: false },
  { name: 'leftDescriptors', title: 'left fds', digits: 0, isCompared: false },
]

const upstream = await startUpstream()
const ofRaw = () => startControl('raw-proxy', { UPSTREAM: upstream.url })
// Without a grace period, runs end with their readers, so any remaining memory is a leak.
const ofStet = () => startStet(upstream.url, { STET_GRACE_MS: '0' })

for (const streams of counts) {
  await compare({
    bench: `idle, ${streams} streams`,
    measures: withColumnsAt0(measures, 'kilobytes', 'leftKilobytes'),
    control: {
      name: 'raw node:http',
      round: () => fresh(ofRaw, (raw, latencyMs) => hold(raw, silentRun(latencyMs), streams)),
    },
    others: [
      {
        name: 'stet, run streams',
        round: () => fresh(ofStet, (stet, latencyMs) => hold(stet, silentRun(latencyMs, stet.headers), streams)),
      },
      {
        name: 'stet, attach streams',
        round: () =>
          fresh(ofStet, async (stet, latencyMs) => {
            const run = await open(new Pool(stet.url), silentRun(latencyMs, stet.headers))
            const uuid = String(run.headers['x-conversation-uuid'])
            const figures = await hold(stet, attachRequest(uuid, stet.headers), streams)
            run.body.destroy()
            return figures
          }),
      },
    ],
  })
}
await upstream.close()

function silentRun(latencyMs: number, headers?: Record<string, string>): LoadRequest {
  return runRequest(true, headers, { pace: 'silent', latencyMs })
}

/** Each measurement gets a separate process, because a process does not return memory to the system. */
function fresh<S extends Subject>(
  start: () => Promise<S>,
  work: (subject: S, latencyMs: number) => Promise<Figures>,
): Promise<Figures> {
  return atBothLatencies(async (latencyMs) => {
    const subject = await start()
    try {
      return await work(subject, latencyMs)
    } finally {
      await subject.close()
    }
  })
}

async function hold(subject: Subject, request: LoadRequest, streams: number): Promise<Figures> {
  // Warm-up: the first streams load code and grow pools.
  await cycle(subject, request, Math.min(50, streams))
  const baseBytes = await settledBytes(subject)
  const descriptors = subject.descriptors()
  const heldBytes = await cycle(subject, request, streams)
  await descriptorsBack(subject, descriptors)
  const leftBytes = await settledBytes(subject)
  return {
    kilobytes: (heldBytes - baseBytes) / streams / 1024,
    leftKilobytes: (leftBytes - baseBytes) / streams / 1024,
    leftDescriptors: subject.descriptors() - descriptors,
  }
}

async function cycle(subject: Subject, request: LoadRequest, streams: number): Promise<number> {
  const pool = new Pool(subject.url, { connections: streams, bodyTimeout: 0 })
  const bodies: Dispatcher.ResponseData['body'][] = []
  await drive({ total: streams, parallel: 50 }, async () => bodies.push((await open(pool, request)).body))
  const bytes = await settledBytes(subject)
  for (const body of bodies) body.on('error', () => {}).destroy()
  await pool.destroy()
  return bytes
}

async function open(pool: Pool, request: LoadRequest): Promise<Dispatcher.ResponseData> {
  const answer = await pool.request(request)
  if (answer.statusCode !== 200) throw new Error(`${request.path}: ${answer.statusCode}`)
  await new Promise((resolve) => answer.body.once('data', resolve))
  return answer
}

/**
 * Waits at most ten seconds, because sockets close a moment after their streams. Sockets that stay open longer are a
 * leak.
 */
async function descriptorsBack(subject: Subject, base: number): Promise<void> {
  for (let looks = 0; subject.descriptors() > base && looks < 40; looks += 1) await pause(250)
}
