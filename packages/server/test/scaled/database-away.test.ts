import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { httpCall } from '../http/api-call.ts'
import { prompt } from '../runs/run-bench.ts'
import { record, textOf } from '../runs/run-calls.ts'
import { count, playCases, report, timeFor } from '../support/counts.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { gate } from '../support/gate.ts'
import { heardMs, startHeardTime } from '../support/heard-time.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const outages = count(1, 50)
/** Installations whose databases are unavailable at the same time, each with its own. */
const installations = count(1, 4)
const awayMs = 10_000
const silenceMs = 1_000
const doubtMs = 1_100

const worst = { unavailableMs: 0, readyMs: 0, orphanMs: 0 }

interface Installation {
  replicas: Replicas
  proxy: DatabaseProxy
  servers: readonly Replica[]
}

async function openInstallation(): Promise<Installation> {
  let proxy: DatabaseProxy | undefined
  const replicas = await openReplicas(
    { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') },
    {
      count: 2,
      environment: { STET_DATABASE_SILENCE_MS: String(silenceMs), STET_LOG_LEVEL: 'off' },
      databaseThrough: async (databaseUrl) => {
        proxy = await startDatabaseProxy(databaseUrl)
        return proxy.url
      },
    },
  )
  if (!proxy) throw new Error('The servers do not use the proxy')
  const opened = { replicas, proxy, servers: [replicas.server(0), replicas.server(1)] }
  onTestFinished(async () => {
    await opened.proxy.comeBack()
    await replicas.close()
    await opened.proxy.goAway()
  })
  return opened
}

const isReady = async ({ url }: Replica) => (await fetch(`${url}/ready`)).status === 200

async function expectUnavailable({ api, url }: Replica, live: string): Promise<void> {
  for (const [method, path, body] of [
    ['GET', '/projects', undefined],
    ['POST', '/projects', { name: 'lost' }],
    ['POST', `${live}/documents/run`, { path: 'hello' }],
    ['POST', `${live}/documents/run`, { path: 'hello', background: true }],
  ] as const) {
    const busy = await heardMs(httpCall('GET', `${url}/health`))
    const asking = api(method, path, { body })
    // Excludes the time that the machine needs for a response without the database.
    const ms = await heardMs(asking)
    expect(ms).toBeLessThan(silenceMs + 200 + busy)
    worst.unavailableMs = Math.max(worst.unavailableMs, ms)
    expect(await asking).toMatchObject({ status: 503, body: { name: 'ServiceUnavailableError' } })
    expect((await asking).headers.get('retry-after')).not.toBeNull()
  }
}

async function playOutage({ replicas, proxy, servers }: Installation, kind: 'goAway' | 'freeze'): Promise<void> {
  const { fake, project } = replicas
  const { opened, open: goOn } = gate()
  const calls = fake.requests.length
  fake.enqueue(...Array.from({ length: 3 }, () => ({ deltas: ['through ', 'it ', 'all'], gate: opened })))
  const healthy = await Promise.all(servers.map(({ open }) => open('hello')))
  const dying = await replicas.start()
  const orphan = await dying.open('hello')
  await fake.waitForRequest(calls + 3)
  for (const { api } of servers) {
    expect(await api('GET', `${project.live}/documents/hello`)).toMatchObject({ status: 200 })
  }

  const awayUntil = performance.now() + awayMs
  await proxy[kind]()
  await dying.kill()
  await orphan.text().catch(() => undefined)
  // Within a second of the last stored write, a run calls its provider before it meets the outage (ADR 44).
  await delay(doubtMs)
  await Promise.all(servers.map((server) => expectUnavailable(server, project.live)))
  for (const server of servers) {
    await expect.poll(() => isReady(server)).toBe(false)
    // Cached reads continue.
    expect(await server.api('GET', `${project.live}/documents/hello`)).toMatchObject({ status: 200 })
  }
  expect(fake.requests.length).toBe(calls + 3)
  await delay(Math.max(0, awayUntil - performance.now()))
  await proxy.comeBack()
  const sinceReturn = startHeardTime()

  for (const server of servers) await expect.poll(() => isReady(server)).toBe(true)
  worst.readyMs = Math.max(worst.readyMs, sinceReturn.passedMs())
  const [first] = servers
  const statusOf = async (response: Response) =>
    (await first?.conversation(response.headers.get('x-conversation-uuid') ?? ''))?.['status']
  // Only the dead server's run is lost.
  await expect.poll(() => statusOf(orphan), { timeout: 60_000, interval: 100 }).toBe('error')
  worst.orphanMs = Math.max(worst.orphanMs, sinceReturn.passedMs())
  sinceReturn.stop()
  for (const response of healthy) expect(await statusOf(response)).toBe('running')
  goOn()
  for (const response of healthy) {
    expect(textOf(await record(response))).toBe('through it all')
    expect(await statusOf(response)).toBe('completed')
  }
  for (const server of servers) {
    expect(await server.run('hello')).toMatchObject({ status: 200 })
    expect(await server.attach(await server.background('hello'))).toMatchObject({ status: 200 })
  }
}

it(
  'promise 12: with two servers, a database that is unavailable for 10 s: 503 within 1 s, recovery, no healthy run is reaped',
  async () => {
    const opened = await Promise.all(Array.from({ length: installations }, openInstallation))
    await playCases('promise 12', { cases: outages, lanes: installations }, async (outage, lane) => {
      const isFrozen = Math.floor(outage / installations) % 2 === 1
      const installation = opened[lane]
      if (installation) await playOutage(installation, isFrozen ? 'freeze' : 'goAway')
    })
    report('promise 12', { outages, ...worst })
  },
  timeFor(outages, 90_000),
)
