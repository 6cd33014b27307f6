import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import { isSkippedWithoutServer, onServer } from '../support/database-server.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

let target: TestDatabase
let bench: RunBench
let other: pg.Client

/** Requests must run out of connections here, not of room for unread responses. */
const unbounded = { STET_UNREAD_BYTES: String(2 ** 30) }

const needsServer = isSkippedWithoutServer('requests while another client locks a table')

describe.skipIf(needsServer)('locked table', () => {
  beforeAll(async () => {
    target = await testDatabase()
    const prompts = { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') }
    bench = await runBench(prompts, { DATABASE_URL: target.databaseUrl ?? '', ...unbounded, STET_LOG_LEVEL: 'off' })
    other = new pg.Client({ connectionString: target.databaseUrl })
    await other.connect()
  })
  afterAll(async () => {
    await other.end()
    await bench.close()
    await target.close()
  })

  it('returns 503 after the lock timeout, stays ready, and starts no run that cannot be stored', async () => {
    const uuid = (await bench.run('hello')).body['uuid']
    await other.query('BEGIN')
    await other.query('LOCK TABLE run, conversation IN ACCESS EXCLUSIVE MODE')
    // Sends more requests than there are connections. Each needs a conversation that is not in memory.
    bench.server.deps.runs.active.forgetAll()
    let answered = 0
    const blocked = Array.from({ length: 24 }, async (_, at) => {
      const isErasure = at < 12
      const answer = await (isErasure
        ? bench.api('DELETE', '/conversations?customIdentifier=nobody')
        : bench.api('GET', `/conversations/${String(uuid)}`))
      answered += 1
      return answer
    })
    // Runs outside the transaction, because these statistics do not change within one.
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    const countWaiting = () =>
      onServer(target.databaseUrl ?? '', async (client) => (await client.query(waiting)).rowCount)
    await expect.poll(countWaiting, { interval: 20 }).toBeGreaterThan(3)
    // The server's own statements do not wait for the connections that requests hold.
    expect((await fetch(`${bench.server.url}/ready`)).status).toBe(200)
    expect(answered).toBe(0)
    for (const answer of await Promise.all(blocked)) {
      expect(answer).toMatchObject({ status: 503, body: { name: 'ServiceUnavailableError' } })
      expect(answer.headers.get('retry-after')).toBe('1')
    }

    // After an idle second, a run is stored before its provider call. The insert fails, so no provider is called.
    const calls = bench.fake.requests.length
    expect(await bench.run('hello')).toMatchObject({ status: 503, body: { name: 'ServiceUnavailableError' } })
    expect(await bench.run('hello')).toMatchObject({ status: 503, body: { name: 'ServiceUnavailableError' } })
    expect(await bench.run('hello', {}, { 'idempotency-key': 'a' })).toMatchObject({ status: 503 })
    expect(bench.fake.requests.length).toBe(calls)

    await other.query('ROLLBACK')
    expect(await bench.api('GET', `/conversations/${String(uuid)}`)).toMatchObject({ status: 200 })
    expect(await bench.run('hello')).toMatchObject({ status: 200 })
    expect(await bench.run('hello')).toMatchObject({ status: 200 })
  }, 240_000)
})
