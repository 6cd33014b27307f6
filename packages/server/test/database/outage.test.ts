import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpCall } from '../http/api-call.ts'
import { orphanedRun } from '../runs/orphaned-run.ts'
import { prompt, type RunBench, record, runBench } from '../runs/run-bench.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { isSkippedWithoutServer } from '../support/database-server.ts'
import { heardMs } from '../support/heard-time.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

const awayMs = 10_000
const patienceMs = 90_000

let target: TestDatabase
let proxy: DatabaseProxy
let bench: RunBench

async function runOf(ownerId: string): Promise<string> {
  const { conversation, run } = orphanedRun(ownerId)
  await bench.server.deps.runs.store.create(conversation, run)
  return conversation.uuid
}

const statusOf = async (uuid: string) => (await bench.conversation(uuid))['status']
const isReady = async () => (await fetch(`${bench.server.url}/ready`)).status === 200

/** Resolves once this process has reaped a dead owner's run. */
async function untilReaping(): Promise<void> {
  const dead = await runOf('dead')
  await expect.poll(() => statusOf(dead), { timeout: patienceMs, interval: 100 }).toBe('error')
}

const needsServer = isSkippedWithoutServer('a PostgreSQL outage of 10 s under load')

describe.skipIf(needsServer)('database outage under load', () => {
  beforeAll(async () => {
    target = await testDatabase()
    proxy = await startDatabaseProxy(target.databaseUrl ?? '')
    const prompts = { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') }
    bench = await runBench(prompts, { DATABASE_URL: proxy.url, STET_LOG_LEVEL: 'off' })
  })
  afterAll(async () => {
    await proxy.comeBack()
    await bench.close()
    await proxy.goAway()
    await target.close()
  })

  it('promise 12: unavailable for 10 s: 503 within 1 s and no run begins, streams continue, the server recovers, no healthy run is reaped', async () => {
    await untilReaping()
    const { deps } = bench.server
    await bench.run('hello')
    await bench.api('GET', `${bench.live}/documents/hello`)
    let goOn = () => {}
    const gate = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const calls = bench.fake.requests.length
    bench.fake.enqueue({ text: 'Through the outage.', gate })
    const streaming = bench.stream('hello')
    await bench.fake.waitForRequest(calls + 1)
    await deps.runs.leases.renew('neighbour', awayMs / 2)
    const neighbour = await runOf('neighbour')

    const awayUntil = performance.now() + awayMs
    await proxy.goAway()
    const health = () => heardMs(httpCall('GET', `${bench.server.url}/health`))
    for (const [method, path, body] of [
      ['GET', '/projects', undefined],
      ['POST', '/projects', { name: 'lost' }],
      ['POST', `${bench.live}/documents/run`, { path: 'hello', background: true }],
    ] as const) {
      const busy = await health()
      const asking = bench.api(method, path, { body })
      // Excludes the time that the machine needs for a response without the database.
      expect(await heardMs(asking)).toBeLessThan(1_000 + busy)
      expect(await asking).toMatchObject({ status: 503, body: { name: 'ServiceUnavailableError' } })
      expect((await asking).headers.get('retry-after')).not.toBeNull()
    }
    await expect.poll(isReady).toBe(false)
    // Another server may own the database by now, so cached data may be stale.
    expect((await bench.api('GET', `${bench.live}/documents/hello`)).status).toBe(503)
    const before = bench.fake.requests.length
    expect((await bench.run('hello')).status).toBe(503)
    expect((await bench.run('hello', {}, { 'idempotency-key': 'away' })).status).toBe(503)
    expect(bench.fake.requests.length).toBe(before)
    goOn()
    await delay(Math.max(0, awayUntil - performance.now()))
    await proxy.comeBack()

    await expect.poll(isReady, { timeout: patienceMs }).toBe(true)
    expect((await streaming).last).toMatchObject({ type: 'chain-completed', response: { text: 'Through the outage.' } })
    expect(await statusOf(String((await streaming).last['uuid']))).toBe('completed')
    // This server's lease expired during the outage. It renews only after other servers could have reaped the run.
    const renewals = new Set<unknown>()
    const countRenewals = async () => {
      const sql = 'SELECT lease_until FROM instance WHERE id = $1 AND lease_until > now()'
      const { rows } = await bench.server.database.session.query(sql, [deps.runs.settings.instanceId])
      for (const row of rows) renewals.add(String(row['lease_until']))
      return renewals.size
    }
    await expect.poll(countRenewals, { timeout: patienceMs, interval: 100 }).toBeGreaterThanOrEqual(2)
    await deps.runs.leases.renew('neighbour', 600_000)
    await untilReaping()
    expect(await statusOf(neighbour)).toBe('running')
    const again = await record(await bench.open('hello'))
    expect(again.last).toMatchObject({ type: 'chain-completed' })
  }, 300_000)
  it('does not leave a conversation busy if its chat was stored but the response was lost', async () => {
    const uuid = String((await bench.run('hello')).body['uuid'])
    const question = 'Did you get this?'
    const messages = [{ role: 'user', content: question }]
    // Drops responses from the statement that stores the question. Earlier statements are answered.
    proxy.loseAnswersFrom(question)
    expect(await bench.chat(uuid, { messages })).toMatchObject({ status: 503 })
    await proxy.comeBack()
    await expect.poll(isReady, { timeout: patienceMs }).toBe(true)
    await expect.poll(() => statusOf(uuid), { timeout: patienceMs }).toBe('error')
    const lost = await bench.conversation(uuid)
    expect(lost).toMatchObject({ error: { errorCode: 'worker_lost' } })
    expect(JSON.stringify(lost['conversation'])).toContain(question)
    expect((await bench.chat(uuid, { messages })).status).toBe(200)
  }, 300_000)
})
