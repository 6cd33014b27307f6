/**
 * `pnpm bench:scale`: compares a single server with one to three servers with Redis, for runs, streams, and readers on
 * a server that does not supervise the run. All servers share one core, so this shows the cost of sharing, not a speed-up.
 */
import { Pool } from 'undici'
import { type LoadRequest, requestLoad, streamLoad } from '../measuring/load.ts'
import { type Comparison, compare, type Figures, loadMeasures, percentile } from '../measuring/rounds.ts'
import { type ReadStream, readStream } from '../measuring/stream-reader.ts'
import { attachRequest, closeAll, runRequest, startUpstream } from '../subjects/candidates.ts'
import { cpuMsOfProgram } from '../subjects/process-figures.ts'
import { type Servers, startServers } from './servers.ts'

const total = Number(process.env['REQUESTS'] ?? 3_000)
const streams = Number(process.env['STREAMS'] ?? 100)
const chunks = 200
const parallel = 64
const latencyMs = 100

const upstream = await startUpstream({ CHUNKS: String(chunks) })
const single = await startServers(upstream.url, 0)
const scaled = await Promise.all([1, 2, 3].map((count) => startServers(upstream.url, count)))

const engineMeasures: Comparison['measures'] = [
  ...loadMeasures,
  { name: 'postgresMicros', title: 'PostgreSQL µs', digits: 1, isCompared: false },
  { name: 'redisMicros', title: 'Redis µs', digits: 1, isCompared: false },
]

await compare({
  bench: `scale, plain runs, ${parallel} at once`,
  measures: engineMeasures,
  control: { name: single.name, round: () => runs(single) },
  others: [
    // The load of each of three servers. With less load, fewer runs share a statement.
    { name: 'single, a third of the load', round: () => runs(single, 1 / 3) },
    ...scaled.map((group) => ({ name: group.name, round: () => runs(group) })),
  ],
})
await compare({
  bench: `scale, ${streams} streams`,
  measures: engineMeasures,
  control: { name: single.name, round: () => pacedStreams(single) },
  others: scaled.map((group) => ({ name: group.name, round: () => pacedStreams(group) })),
})
await compareReaders()
await Promise.all([single, ...scaled].map((group) => group.close()))
await closeAll(upstream)

/** Divides the load evenly. @param part the part of the whole load. */
async function runs({ servers, headers }: Servers, part = 1): Promise<Figures> {
  const perServer = part / servers.length
  const share = { total: Math.ceil(total * perServer), parallel: Math.ceil(parallel * perServer) }
  const request = runRequest(false, headers, { latencyMs })
  return withEngines(share.total * servers.length, () =>
    Promise.all(servers.map((server) => requestLoad(server, request, share))),
  )
}

async function pacedStreams({ servers, headers }: Servers): Promise<Figures> {
  const share = { streams: Math.ceil(streams / servers.length), chunks }
  const request = runRequest(true, headers, { latencyMs })
  return withEngines(share.streams * servers.length * chunks, () =>
    Promise.all(servers.map((server) => streamLoad(server, request, share))),
  )
}

/** Adds the CPU time of all PostgreSQL and Redis processes of this machine per unit, so nothing else may use them. */
async function withEngines(units: number, work: () => Promise<readonly Figures[]>): Promise<Figures> {
  const before = { postgres: cpuMsOfProgram('postgres'), redis: cpuMsOfProgram('redis-server') }
  const parts = await work()
  return {
    ...combined(parts),
    postgresMicros: ((cpuMsOfProgram('postgres') - before.postgres) * 1000) / units,
    redisMicros: ((cpuMsOfProgram('redis-server') - before.redis) * 1000) / units,
  }
}

/** Every server has the same share of the units. */
function combined(parts: readonly Figures[]): Figures {
  const sum = (name: string) => parts.reduce((all, figures) => all + (figures[name] ?? 0), 0)
  const mean = (name: string) => sum(name) / parts.length
  return {
    cpuMicros: mean('cpuMicros'),
    unitsPerSecond: sum('unitsPerSecond'),
    corePercent: sum('corePercent'),
    p50Ms: mean('p50Ms'),
    p99Ms: Math.max(...parts.map((figures) => figures['p99Ms'] ?? 0)),
  }
}

async function compareReaders(): Promise<void> {
  const pair = scaled[1]
  if (!pair) throw new Error('There is no group of two servers')
  const measures: Comparison['measures'] = [
    { name: 'cpuMicros', title: 'CPU µs/delivery', digits: 1, isCompared: true },
    { name: 'lagP50Ms', title: 'lag p50 ms', digits: 2, isCompared: false },
    { name: 'lagP99Ms', title: 'lag p99 ms', digits: 2, isCompared: false },
  ]
  // One reader uses too little CPU to measure, so its rounds have more runs.
  for (const { readers, runs: together } of [
    { readers: 1, runs: 20 },
    { readers: 100, runs: 1 },
  ]) {
    const round = (group: Servers, place: 0 | 1) => () => attached(group, place, { readers, runs: together })
    await compare({
      bench: `scale, ${readers} attached readers`,
      measures,
      control: { name: 'single', round: round(single, 0) },
      others: [
        { name: 'scaled, on the same server', round: round(pair, 0) },
        { name: 'scaled, on another server', round: round(pair, 1) },
      ],
    })
  }
}

/** Starts runs on the first server and attaches readers on the server at `place`. */
async function attached(
  { servers, headers }: Servers,
  place: 0 | 1,
  { readers, runs: together }: { readers: number; runs: number },
): Promise<Figures> {
  const [owner] = servers
  const other = servers[place] ?? owner
  const ownerPool = new Pool(owner.url, { connections: together, bodyTimeout: 0 })
  const pool = new Pool(other.url, { connections: readers * together, bodyTimeout: 0 })
  const request: LoadRequest = runRequest(true, headers, { latencyMs })
  const cpuMs = () => servers.reduce((sum, server) => sum + server.cpuMs(), 0)
  const before = cpuMs()
  const one = async (): Promise<ReadStream[]> => {
    const attaching: Promise<ReadStream>[] = []
    const first = await readStream(ownerPool, request, {
      withIds: true,
      onHead: (head) => {
        const attach = attachRequest(String(head['x-conversation-uuid']), headers)
        for (let reader = 0; reader < readers; reader += 1) attaching.push(readStream(pool, attach, { withIds: true }))
      },
    })
    return [first, ...(await Promise.all(attaching))]
  }
  const groups = await Promise.all(Array.from({ length: together }, one))
  const used = cpuMs() - before
  await Promise.all([ownerPool.close(), pool.close()])
  const deliveries = groups.flat().reduce((sum, { idsAtMs }) => sum + idsAtMs.size, 0)
  const lags = groups.flatMap(lagsOf)
  return { cpuMicros: (used * 1000) / deliveries, lagP50Ms: percentile(lags, 0.5), lagP99Ms: percentile(lags, 0.99) }
}

/** Returns how much later than the caller of the run the readers got each event, in ms. Skips the history. */
function lagsOf([first, ...readers]: readonly ReadStream[]): number[] {
  const ids = [...(first?.idsAtMs ?? [])].slice(chunks / 2)
  return readers.flatMap(({ idsAtMs }) => ids.map(([id, atMs]) => (idsAtMs.get(id) ?? Number.NaN) - atMs))
}
