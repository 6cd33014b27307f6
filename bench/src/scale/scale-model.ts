/**
 * `pnpm bench:scale-model`: finds the part of a large installation that saturates first. Simulates runs that queue for the cores
 * of the servers, of PostgreSQL partitions and of Redis nodes, with the CPU times in `bench/scale-model/measured.json`.
 * Disks, networks, locks and memory are not modeled, so real limits are lower.
 */
import { readFileSync } from 'node:fs'
import TinyQueue from 'tinyqueue'
import { percentile } from '../measuring/rounds.ts'
import { printTable } from '../measuring/table.ts'

interface Measured {
  serverPerRun: number
  postgresPerRun: number
  redisPerRun: number
}

interface Installation {
  name: string
  /** One core each, because a Node process has one main thread. */
  servers: number
  postgres: { partitions: number; cores: number }
  /** Redis executes commands on one core of each node. */
  redisNodes: number
}

const measured = JSON.parse(
  readFileSync(new URL('../../scale-model/measured.json', import.meta.url), 'utf8'),
) as Measured

/** The shares of a run's CPU time before its provider is called and after the provider responded. */
const shares = { beforeProvider: 0.5, afterProvider: 0.5 }
const providerMs = 100
const seconds = 4
const acceptedDelayMs = 50

const installations: readonly Installation[] = [
  { name: '1 server', servers: 1, postgres: { partitions: 1, cores: 2 }, redisNodes: 1 },
  { name: '4 servers', servers: 4, postgres: { partitions: 1, cores: 4 }, redisNodes: 1 },
  { name: '16 servers', servers: 16, postgres: { partitions: 1, cores: 8 }, redisNodes: 1 },
  { name: '24 servers', servers: 24, postgres: { partitions: 1, cores: 8 }, redisNodes: 1 },
  { name: '24 servers, 2 partitions', servers: 24, postgres: { partitions: 2, cores: 8 }, redisNodes: 2 },
]

/** First come, first served, on several cores. */
class Station {
  readonly #freeAt: number[]
  busyMs = 0

  constructor(cores: number) {
    this.#freeAt = Array.from({ length: cores }, () => 0)
  }

  /** Returns when the work is done. Arrivals must come in order. */
  serve(atMs: number, workMs: number): number {
    let core = 0
    for (let other = 1; other < this.#freeAt.length; other += 1) {
      if ((this.#freeAt[other] ?? 0) < (this.#freeAt[core] ?? 0)) core = other
    }
    const doneMs = Math.max(atMs, this.#freeAt[core] ?? 0) + workMs
    this.#freeAt[core] = doneMs
    this.busyMs += workMs
    return doneMs
  }

  get cores(): number {
    return this.#freeAt.length
  }
}

interface Step {
  atMs: number
  run(): void
}

interface Outcome {
  p99Ms: number
  /** The utilization of each part's cores. */
  load: Record<'servers' | 'PostgreSQL' | 'Redis', number>
}

function simulate({ servers, postgres, redisNodes }: Installation, runsPerSecond: number): Outcome {
  const random = seededRandom(7)
  const stations = {
    servers: Array.from({ length: servers }, () => new Station(1)),
    PostgreSQL: Array.from({ length: postgres.partitions }, () => new Station(postgres.cores)),
    Redis: Array.from({ length: redisNodes }, () => new Station(1)),
  }
  const pick = (group: readonly Station[]) => group[Math.floor(random() * group.length)] as Station
  const vary = (meanMicros: number) => (meanMicros / 1000) * -Math.log(1 - random())
  // Ordered by time, because stations need arrivals in order.
  const steps = new TinyQueue<Step>([], (a, b) => a.atMs - b.atMs)
  const delays: number[] = []
  const start = (atMs: number) => {
    const server = pick(stations.servers)
    const partition = pick(stations.PostgreSQL)
    const serve = (station: Station, micros: number, then: (doneMs: number) => void) => (nowMs: number) => {
      const doneMs = station.serve(nowMs, vary(micros))
      steps.push({ atMs: doneMs, run: () => then(doneMs) })
    }
    const half = (share: number) => measured.serverPerRun * share
    const finish = (doneMs: number) => delays.push(doneMs - atMs - providerMs)
    const store = serve(partition, measured.postgresPerRun, finish)
    const after = serve(server, half(shares.afterProvider), store)
    const provider = (nowMs: number) => steps.push({ atMs: nowMs + providerMs, run: () => after(nowMs + providerMs) })
    const before = serve(server, half(shares.beforeProvider), provider)
    const coordinate = serve(pick(stations.Redis), measured.redisPerRun, before)
    steps.push({ atMs, run: () => coordinate(atMs) })
  }
  for (let atMs = 0; atMs < seconds * 1000; atMs += (-Math.log(1 - random()) * 1000) / runsPerSecond) start(atMs)
  let lastMs = 0
  for (let step = steps.pop(); step; step = steps.pop()) {
    lastMs = step.atMs
    step.run()
  }
  const loadOf = (group: readonly Station[]) =>
    group.reduce((sum, { busyMs }) => sum + busyMs, 0) / (lastMs * group.reduce((sum, { cores }) => sum + cores, 0))
  return {
    p99Ms: percentile(delays, 0.99),
    load: {
      servers: loadOf(stations.servers),
      PostgreSQL: loadOf(stations.PostgreSQL),
      Redis: loadOf(stations.Redis),
    },
  }
}

/** mulberry32: the same seed gives the same simulation. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Finds the highest rate whose p99 delay is accepted, within 2 %. */
function capacityOf(installation: Installation): { runsPerSecond: number } & Outcome {
  let low = 0
  let high = 40_000
  while (high - low > Math.max(5, low * 0.02)) {
    const middle = (low + high) / 2
    if (simulate(installation, middle).p99Ms <= acceptedDelayMs) low = middle
    else high = middle
  }
  return { runsPerSecond: low, ...simulate(installation, low) }
}

const percent = (share: number) => `${(share * 100).toFixed(0)} %`
console.log(
  `Runs per second with a p99 of at most ${acceptedDelayMs} ms beside the provider, and the load of each part`,
)
printTable([
  ['', 'PostgreSQL', 'runs/s', 'p99 ms', 'servers', 'PostgreSQL', 'Redis', 'first at its limit'],
  ...installations.map((installation) => {
    const { runsPerSecond, p99Ms, load } = capacityOf(installation)
    const [first = ''] = Object.entries(load).reduce((a, b) => (b[1] > a[1] ? b : a))
    const { partitions, cores } = installation.postgres
    const figures = [runsPerSecond.toFixed(0), p99Ms.toFixed(1), ...Object.values(load).map(percent)]
    return [installation.name, `${partitions} x ${cores} cores`, ...figures, first]
  }),
])
