/** Promise 13 with two servers: requests neither fail nor wait for Redis, and everything recovers without a restart. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { record, textOf } from '../runs/run-calls.ts'
import { count, timeFor } from '../support/counts.ts'
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts'
import { gate } from '../support/gate.ts'
import { heardMs } from '../support/heard-time.ts'
import { type RedisProcess, redisProcess } from '../support/redis.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const outages = count(1, 50)
const requestsOfEachKind = count(5, 9)
/** A busy machine may delay the requests of one round. An outage that requests wait for delays those of every round. */
const rounds = 3
/** The promised limit of waiting for Redis in one request. */
const waitMs = 100

let redis: RedisProcess
let proxy: FaultProxy
let replicas: Replicas
let one: Replica
let other: Replica
beforeAll(async () => {
  redis = await redisProcess()
  proxy = await faultProxy(redis.port)
  replicas = await openReplicas(
    { hello: prompt('<user>Hi {{ name }}</user>', 'maxRetries: 0\nparameters: { name: { type: text } }\n') },
    {
      count: 2,
      redisUrl: `redis://127.0.0.1:${proxy.port}`,
      environment: { STET_REDIS_TIMEOUT_MS: '50', STET_WORKERS: '2' },
    },
  )
  one = replicas.server(0)
  other = replicas.server(1)
})
afterAll(async () => {
  await replicas.close()
  await proxy.close()
  await redis.close()
})

let made = 0
function newName(): string {
  made += 1
  return `queued-${made}`
}

const run = (server: Replica, name: string) => server.run('hello', { parameters: { name } })

/** Requests of every kind that must not depend on Redis. */
const kinds: Record<string, (server: Replica) => Promise<unknown>> = {
  'GET me': async ({ api }) => expect(await api('GET', '/me')).toMatchObject({ status: 200 }),
  'GET prompt': async ({ api }) =>
    expect(await api('GET', `${replicas.project.live}/documents/hello`)).toMatchObject({ status: 200 }),
  'GET list': async ({ api }) => expect(await api('GET', '/projects')).toMatchObject({ status: 200 }),
  'POST project': async ({ api }) =>
    expect(await api('POST', '/projects', { body: { name: 'outage' } })).toMatchObject({ status: 201 }),
  'JSON run': async (server) =>
    expect(await run(server, 'json')).toMatchObject({ status: 200, body: { response: { text: 'Hello.' } } }),
  'SSE run': async ({ stream }) => expect(textOf(await stream('hello'))).toBe('Hello.'),
  'attach and stop': async (server) => {
    const { body } = await run(server, 'attached')
    const uuid = String(body['uuid'])
    expect(await server.attach(uuid)).toMatchObject({ status: 200 })
    expect(await server.stop(uuid)).toMatchObject({ status: 200, body: { stopped: false } })
  },
}

/** The median: a busy machine delays single requests, but an outage delays every one. */
async function timeOf(request: (server: Replica) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let sent = 0; sent < requestsOfEachKind; sent += 1) {
    times.push(await heardMs(request(sent % 2 === 0 ? one : other)))
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}

async function timesOfAll(): Promise<Record<string, number>> {
  const times: Record<string, number> = {}
  for (const [kind, request] of Object.entries(kinds)) times[kind] = await timeOf(request)
  return times
}

const queuedRuns = () => replicas.query(`SELECT uuid FROM run WHERE status = 'queued'`)

/** Queues a run, and repeats a refused request as a client does: on a busy machine, Redis may need more than the 50 ms. */
async function queue(server: Replica, parameters = {}): Promise<string> {
  const body = { path: 'hello', background: true, parameters }
  let uuid = ''
  const isQueued = async () => {
    const answer = await server.api('POST', `${replicas.project.live}/documents/run`, { body })
    uuid = String(answer.body['uuid'])
    return answer.status
  }
  await expect.poll(isQueued, { interval: 100 }).toBe(200)
  return uuid
}

async function expectRecovery(): Promise<void> {
  for (const [server, another] of [
    [one, other],
    [other, one],
  ] as const) {
    expect(await another.attach(await queue(server))).toMatchObject({ status: 200 })
  }
}

interface Outage {
  begin(): void | Promise<void>
  end(): void | Promise<void>
}

const outageKinds: Record<string, Outage> = {
  killed: { begin: () => redis.kill(), end: () => redis.start() },
  frozen: { begin: () => redis.pause(), end: () => redis.resume() },
  'behind a broken network': { begin: () => proxy.blackHole(), end: () => proxy.restore() },
  'cut off': { begin: () => proxy.cut(), end: () => proxy.restore() },
  'late by 300 ms': { begin: () => proxy.delay(300), end: () => proxy.restore() },
}

describe.each(Object.entries(outageKinds))('promise 13: while Redis is %s', (_name, outage) => {
  it(
    'JSON runs, SSE runs, reads and writes go on without waiting, background runs are refused, and all recovers',
    async () => {
      for (let time = 0; time < outages; time += 1) {
        replicas.fake.setDefault({ text: 'Hello.' })
        const before = await timesOfAll()
        const { opened, open: goOn } = gate()
        const calls = replicas.fake.requests.length
        replicas.fake.enqueue({ deltas: ['through ', 'it ', 'all'], gate: opened })
        const long = await one.open('hello')
        await replicas.fake.waitForRequest(calls + 1)

        await outage.begin()
        try {
          for (const [kind, request] of Object.entries(kinds)) {
            const limit = (before[kind] ?? 0) + waitMs
            let during = await timeOf(request)
            for (let round = 1; round < rounds && during >= limit; round += 1) during = await timeOf(request)
            expect(during, kind).toBeLessThan(limit)
          }
          const sent = replicas.fake.requests.length
          for (const { api } of [one, other]) {
            const body = { path: 'hello', background: true }
            const answer = await api('POST', `${replicas.project.live}/documents/run`, { body })
            expect(answer).toMatchObject({ status: 503, body: { reason: 'queue-unavailable' } })
            expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
          }
          expect(await queuedRuns()).toEqual([])
          goOn()
          expect(textOf(await record(long))).toBe('through it all')
          expect(replicas.fake.requests.length).toBe(sent)
        } finally {
          goOn()
          await outage.end()
        }
        await expectRecovery()
      }
    },
    timeFor(outages, 60_000),
  )
})

describe.each([
  { name: 'killed and restarted empty', lose: () => redis.kill().then(redis.start) },
  { name: 'flushed', lose: () => redis.flush() },
  { name: 'left by half-closed connections', lose: async () => proxy.halfClose() },
])('promise 13: after Redis was $name', ({ lose }) => {
  it(
    'background runs that were queued before run once',
    async () => {
      for (let time = 0; time < outages; time += 1) {
        const { fake } = replicas
        fake.setDefault({ text: 'Hello.' })
        const calls = fake.requests.length
        const { opened, open: goOn } = gate()
        // Occupies all workers of both servers.
        fake.enqueue(...Array.from({ length: 4 }, () => ({ text: 'busy', gate: opened })))
        const busy = await Promise.all([one, other, one, other].map((server) => queue(server)))
        await fake.waitForRequest(calls + 4)
        const names = Array.from({ length: 10 }, () => `${newName()}.`)
        const uuids = await Promise.all(names.map((name, place) => queue(place % 2 === 0 ? one : other, { name })))
        expect((await queuedRuns()).length).toBe(names.length)
        await lose()
        goOn()
        for (const uuid of [...busy, ...uuids]) expect(await other.attach(uuid)).toMatchObject({ status: 200 })
        for (const name of names) {
          const asked = fake.requests.filter(({ body }) => JSON.stringify(body['messages']).includes(name))
          expect(asked, name).toHaveLength(1)
        }
        await expectRecovery()
      }
    },
    timeFor(outages, 60_000),
  )
})

it('promise 13: a server starts while Redis is unavailable, serves, and takes background runs once Redis is available again', async () => {
  replicas.fake.setDefault({ text: 'Hello.' })
  await proxy.cut()
  const late = await replicas.start()
  expect(await run(late, 'late')).toMatchObject({ status: 200 })
  expect((await fetch(`${late.url}/ready`)).status).toBe(200)
  await proxy.restore()
  expect(await late.attach(await queue(late))).toMatchObject({ status: 200 })
  expect(await late.terminate()).toMatchObject({ code: 0 })
})
