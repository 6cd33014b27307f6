/**
 * `pnpm bench:engines`: compares the Redis adapters with bare Redis Streams and BullMQ, for the same events and jobs.
 * Everything runs in this process, so the CPU time includes both sides.
 */
import { randomUUID } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { connectRedis } from '../../../packages/server/src/adapters/redis/connections.ts'
import { createSharedRunEventLog } from '../../../packages/server/src/adapters/redis/event-log/run-event-log.ts'
import { createSharedRunQueue, type SharedRunQueue } from '../../../packages/server/src/adapters/redis/run-queue.ts'
import { createSignalChannel } from '../../../packages/server/src/adapters/redis/signals.ts'
import { eventCodec } from '../../../packages/server/src/wire/event-log-format.ts'
import { compare, type Figures, loadMeasures } from '../measuring/rounds.ts'
import { redisUrl as url } from './servers.ts'

const events = Number(process.env['EVENTS'] ?? 50_000)
const jobs = Number(process.env['JOBS'] ?? 5_000)
const workers = 25
/** Chunks that arrive in one turn of the event loop, as from a provider's packet. */
const eventsPerTurn = 4
const text = `event: provider-event\ndata: ${JSON.stringify({ type: 'text-delta', id: '0', text: 'word ' })}\n\n`
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const measures: typeof loadMeasures = [loadMeasures[0], ...loadMeasures.slice(1, 2)]

await compare({
  bench: 'engines, events of one run, one reader',
  measures,
  control: { name: 'bare Redis Stream', round: bareStream },
  others: [{ name: 'event log of two servers', round: sharedEventLog }],
})
await compare({
  bench: 'engines, jobs',
  measures,
  control: { name: 'bare BullMQ', round: bareQueue },
  others: [{ name: 'run queue', round: sharedQueue }],
})

async function measured(units: number, work: () => Promise<unknown>): Promise<Figures> {
  const before = process.cpuUsage()
  const startedMs = performance.now()
  await work()
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(before)
  return { cpuMicros: (user + system) / units, unitsPerSecond: units / seconds }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** One command for each event. The next turn begins when Redis has the events of the previous one. */
async function bareStream(): Promise<Figures> {
  const key = `bench:${randomUUID()}`
  const writer = new Redis(url, { enableAutoPipelining: true })
  const reader = new Redis(url)
  const read = async () => {
    let cursor = '0-0'
    for (let count = 0; count < events; ) {
      const reply = await reader.xread('COUNT', 1_000, 'BLOCK', 1_000, 'STREAMS', key, cursor)
      const entries = reply?.[0]?.[1] ?? []
      count += entries.length
      cursor = entries.at(-1)?.[0] ?? cursor
    }
  }
  const write = async () => {
    for (let sent = 0; sent < events; sent += eventsPerTurn) {
      await Promise.all(Array.from({ length: eventsPerTurn }, () => writer.xadd(key, '*', 'event', text)))
    }
  }
  const figures = await measured(events, () => Promise.all([write(), read()]))
  await writer.del(key)
  for (const redis of [writer, reader]) redis.disconnect()
  return figures
}

async function sharedEventLog(): Promise<Figures> {
  const prefix = `bench-${randomUUID()}`
  const runUuid = randomUUID()
  const [owner, follower] = [openEventLog(prefix), openEventLog(prefix)]
  while ((await owner.channel.countServers().catch(() => 0)) < 2) await turn()
  const writer = owner.log.open(runUuid, () => {})
  const reader = follower.log.followElsewhere?.(runUuid, 0, async () => 'active')
  if (!reader) throw new Error('The event log cannot be followed')
  const read = async () => {
    for (let taken = 0; taken < events; ) {
      const { length } = reader.take(1_000)
      taken += length
      if (length === 0) await reader.changed()
    }
  }
  const write = async () => {
    for (let id = 2; id <= events; id += eventsPerTurn) {
      const entries = Array.from({ length: eventsPerTurn }, (_, place) => ({ id: id + place, pieces: text }))
      writer.append([], entries)
      await turn()
    }
  }
  // The owner publishes only after the reader's server has asked for the run.
  writer.append([], [{ id: 1, pieces: text }])
  await reader.changed()
  const figures = await measured(events, () => Promise.all([write(), read()]))
  reader.release()
  writer.close()
  for (const { log, connections } of [owner, follower]) {
    log.close()
    await connections.close()
  }
  return figures
}

function openEventLog(prefix: string) {
  const connections = connectRedis({ url, timeoutMs: 1_000, prefix }, silent)
  const channel = createSignalChannel(connections)
  const log = createSharedRunEventLog({ connections, channel, codec: eventCodec, maxBytes: 1_000_000 })
  return { connections, channel, log }
}

async function bareQueue(): Promise<Figures> {
  const prefix = `bench-${randomUUID()}`
  const connection = { url, maxRetriesPerRequest: null }
  const queue = new Queue('jobs', { prefix, connection })
  await queue.waitUntilReady()
  let worker: Worker | undefined
  const work = new Promise<void>((resolve) => {
    let done = 0
    const process = async () => {
      done += 1
      if (done === jobs) resolve()
    }
    worker = new Worker('jobs', process, { prefix, connection, concurrency: workers })
  })
  const options = { removeOnComplete: true, removeOnFail: true }
  const add = async () => {
    for (let sent = 0; sent < jobs; sent += workers) {
      await Promise.all(
        Array.from({ length: workers }, () => queue.add('run', {}, { ...options, jobId: randomUUID() })),
      )
    }
  }
  const figures = await measured(jobs, () => Promise.all([add(), work]))
  await worker?.close()
  await queue.obliterate({ force: true })
  await queue.close()
  return figures
}

/** Repeats a reservation that Redis did not confirm in time, as a client does after a 503. */
async function reserve(queue: SharedRunQueue, runUuid: string): Promise<void> {
  while (!(await queue.reserve(runUuid, 1).catch(() => false))) await turn()
}

async function sharedQueue(): Promise<Figures> {
  const connections = connectRedis({ url, timeoutMs: 1_000, prefix: `bench-${randomUUID()}` }, silent)
  await new Promise((resolve) => connections.requests.once('ready', resolve))
  const queue = createSharedRunQueue({ connections, workers, maxQueuedPerKey: jobs, countQueued: async () => 0 })
  const work = new Promise<void>((resolve) => {
    let done = 0
    queue.work(async () => {
      done += 1
      if (done === jobs) resolve()
    })
  })
  const add = async () => {
    for (let sent = 0; sent < jobs; sent += workers) {
      const runs = Array.from({ length: workers }, () => randomUUID())
      await Promise.all(runs.map((runUuid) => reserve(queue, runUuid)))
      for (const runUuid of runs) queue.add({ runUuid, apiKeyId: 1 })
    }
  }
  const figures = await measured(jobs, () => Promise.all([add(), work]))
  await queue.stop()
  await queue.close()
  await connections.close()
  return figures
}
