import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject } from '../http/scenario.ts'
import { prompt, record } from '../runs/run-bench.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { isSkippedWithoutServer, onServer } from '../support/database-server.ts'
import { startHeardTime } from '../support/heard-time.ts'
import { seededRandom } from '../support/random.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { serverProcesses } from '../support/server-processes.ts'

const kills = count(3, 200)
const pauses = count(1, 50)
const key = generateApiKey()
const needsServer = isSkippedWithoutServer('two processes on one database')

const { storage, fake, start, startWaiting } = serverProcesses(key)
let live: string

async function startFirst(): Promise<ServerProcess> {
  const server = await start()
  ;({ live } = await createTestProject(apiCaller(server.url, key), { hello: prompt('<user>Hi</user>') }))
  return server
}

const post = (server: ServerProcess, path: string, body: object) =>
  fetch(`${server.url}/api/v3${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

interface Runs {
  uuids: string[]
  /** Both resolve with undefined for a broken connection. */
  stream: Promise<string | undefined>
  result: Promise<Response | undefined>
}

const orUndefined = <T>(work: Promise<T>) => work.catch(() => undefined)

async function startRuns(server: ServerProcess): Promise<Runs> {
  const calls = fake().requests.length
  const run = (body: object) => post(server, `${live}/documents/run`, { path: 'hello', ...body })
  const result = orUndefined(run({ customIdentifier: 'result' }))
  const background = ((await (await run({ background: true })).json()) as { uuid: string }).uuid
  const stream = await run({ stream: true })
  await fake().waitForRequest(calls + 3)
  const inDatabase = async () => {
    const path = '/conversations?customIdentifier=result&status=running'
    const { body } = await apiCaller(server.url, key)('GET', path)
    return (body['items'] as { uuid: string }[]).map(({ uuid }) => uuid)
  }
  await expect.poll(inDatabase).toHaveLength(1)
  const uuids = [background, stream.headers.get('x-conversation-uuid') ?? '', ...(await inDatabase())]
  return { uuids, stream: orUndefined(stream.text()), result }
}

/** Waits until the owner's lease has expired, because the owner may be alive until then. */
async function untilEnded(server: ServerProcess, uuids: readonly string[]): Promise<void> {
  const api = apiCaller(server.url, key)
  const isRunning = async (uuid: string) => (await api('GET', `/conversations/${uuid}`)).body['status'] === 'running'
  const running = async () => (await Promise.all(uuids.map(isRunning))).filter(Boolean).length
  await expect.poll(running, { timeout: 60_000, interval: 100 }).toBe(0)
}

async function expectLost(server: ServerProcess, uuids: readonly string[]): Promise<void> {
  for (const uuid of uuids) {
    // `record` checks that the stream has exactly one terminal event and that it is the last event.
    const { types, last } = await record(await post(server, `/conversations/${uuid}/attach`, { stream: true }))
    expect(types).toEqual(['chain-error'])
    expect(last).toMatchObject({ error: { code: 'worker_lost' } })
  }
}

const query = (sql: string, params: unknown[] = []) =>
  onServer(storage().databaseUrl ?? '', async (client) => (await client.query(sql, params)).rows as object[])

const ofServers = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'stet'`

async function connections(): Promise<number[]> {
  const rows = await query(`SELECT pid ${ofServers}`)
  return (rows as { pid: number }[]).map(({ pid }) => pid)
}

const traces = () =>
  query(
    `SELECT r.*, encode(r.event_log, 'hex') AS log, c.messages, c.status AS state, c.epoch AS conversation_epoch,
       c.last_event_id AS last_id, c.updated_at FROM run r JOIN conversation c ON c.uuid = r.conversation_uuid
     ORDER BY r.uuid`,
  )

describe.skipIf(needsServer)('process that takes over', () => {
  it(
    'promise 4: after its predecessor is killed, every run gets a definite error within 20 s and one terminal event',
    async () => {
      const random = seededRandom(seed)
      fake().setDefault({ deltas: ['half ', 'way'], hang: 'mid-stream' })
      let owner = await startFirst()
      for (let round = 0; round < kills; round += 1) {
        const next = await startWaiting()
        const { uuids } = await startRuns(owner)
        await delay(random() * 500)
        const heard = startHeardTime()
        owner.child.kill('SIGKILL')
        await next.serving
        owner = next
        await untilEnded(owner, uuids)
        await expectLost(owner, uuids)
        heard.stop()
        expect(heard.passedMs(), `seed ${seed}`).toBeLessThan(20_000)
      }
    },
    timeFor(kills, 60_000),
  )

  it(
    'promise 5: a predecessor paused beyond its lease overwrites neither rows nor event logs after it resumes',
    async () => {
      let latest: ServerProcess | undefined
      for (let round = 0; round < pauses; round += 1) {
        const calls = fake().requests.length
        let goOn = () => {}
        const gate = new Promise<void>((resolve) => {
          goOn = resolve
        })
        fake().setDefault({ deltas: ['half ', 'way'], text: 'half way', gate })
        const paused = latest ?? (await startFirst())
        const runs = await startRuns(paused)
        expect(fake().requests.length).toBe(calls + 3)
        paused.child.kill('SIGSTOP')
        const hasLease = async () => (await query('SELECT 1 FROM instance WHERE lease_until > now()')).length
        await expect.poll(hasLease, { timeout: 30_000 }).toBe(0)
        const held = await connections()
        const successor = await startWaiting()
        latest = successor
        // Another server can only take over after the database has dropped the paused process.
        await query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS held(pid)', [held])
        await successor.serving
        await untilEnded(successor, runs.uuids)
        await expectLost(successor, runs.uuids)
        const before = await traces()

        paused.child.kill('SIGCONT')
        goOn()
        // The resumed process gives up its runs, so their callers get an error or no end.
        expect((await runs.stream) ?? '').not.toMatch(/"type":"chain-(completed|error)"/)
        expect((await runs.result)?.status).toBe(500)
        expect((await paused.ended).code).toBe(1)
        expect(await traces()).toEqual(before)
        await expectLost(successor, runs.uuids)
      }
    },
    timeFor(pauses, 120_000),
  )
})
