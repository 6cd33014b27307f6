/** Runs whose server dies, freezes or misses a stop signal, seen from the other servers. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { record } from '../runs/run-calls.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { startHeardTime } from '../support/heard-time.ts'
import { seededRandom } from '../support/random.ts'
import { testRedisUrl } from '../support/redis.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const kills = count(5, 200)
const pauses = count(1, 50)
const stops = count(10, 200)

const stepMs = 20
const slow = { deltas: Array.from({ length: 100 }, (_, word) => `word${word} `), delayMs: stepMs }
const endless = { deltas: Array.from({ length: 10_000 }, () => '. '), delayMs: 5_000 }
const hanging = { deltas: ['half ', 'way'], hang: 'mid-stream' } as const

let replicas: Replicas
let watchers: readonly Replica[]
beforeAll(async () => {
  replicas = await openReplicas(
    { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') },
    { count: 2, environment: { STET_WORKERS: '1', STET_RUN_TIMEOUT_SECONDS: '86400' } },
  )
  watchers = [replicas.server(0), replicas.server(1)]
  // Occupies the workers of both servers, so that all further background runs belong to a server of the test. A silent
  // provider call would end at its idle limit, which the long run exceeds.
  replicas.fake.enqueue(endless, endless)
  for (const { background } of watchers) await background('hello')
  await replicas.fake.waitForRequest(2)
})
afterAll(() => replicas.close())

interface RunRow {
  uuid: string
  conversation_uuid: string
  owner_id: string
  status: string
  error_code: string | null
}

const rowsOf = (conversations: readonly string[]) =>
  replicas.query<RunRow>('SELECT * FROM run WHERE conversation_uuid = ANY($1::uuid[]) ORDER BY uuid', [conversations])

/** Starts a server that owns one run of each kind. Resolves when the provider has all three requests. */
async function startOwner(overrides: Record<string, string> = {}) {
  const owner = await replicas.start({ STET_WORKERS: '5', ...overrides })
  const calls = replicas.fake.requests.length
  const stream = await owner.open('hello')
  const streamed = stream.headers.get('x-conversation-uuid') ?? ''
  const json = owner.run('hello').catch(() => undefined)
  const background = await owner.background('hello')
  await replicas.fake.waitForRequest(calls + 3)
  const owned = async () => {
    const [first] = await rowsOf([streamed])
    const rows = await replicas.query<RunRow>('SELECT * FROM run WHERE owner_id = $1', [first?.owner_id])
    return rows.map((row) => row.conversation_uuid)
  }
  await expect.poll(async () => (await owned()).length).toBe(3)
  return { owner, stream, json, background, conversations: await owned() }
}

/** Attaches to a run on each watcher. Both readers must get the same bytes with one terminal event, which is the last. */
async function endAsSeen(uuid: string): Promise<{ type: string; code: string | undefined }> {
  const seen = await Promise.all(
    watchers.map(async ({ post }) =>
      record(await post(`/conversations/${uuid}/attach`, { stream: true }), { isWhole: false }),
    ),
  )
  const [first, second] = seen
  if (!first || !second) throw new Error('There are two watchers')
  expect(first.text).toBe(second.text)
  const terminal = first.types.filter((type) => type === 'chain-completed' || type === 'chain-error')
  expect(terminal).toEqual([first.types.at(-1)])
  const ids = first.events.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  const { type, error } = first.last as { type: string; error?: { code: string } }
  return { type, code: error?.code }
}

it(
  'promise 4: after kill -9 of the owner, every run has a definite error within 20 s and one terminal event',
  async () => {
    replicas.fake.setDefault(slow)
    const random = seededRandom(seed)
    const ends: Promise<void>[] = []
    let lost = 0
    for (let kill = 0; kill < kills; kill += 1) {
      const { owner, stream, json, conversations } = await startOwner()
      await delay(random() * stepMs * slow.deltas.length)
      await owner.kill()
      const sinceKill = startHeardTime()
      // The owner's own readers lose their connections.
      await Promise.all([stream.text().catch(() => undefined), json])
      const definite = async (uuid: string) => {
        const answer = await watchers[kill % 2]?.attach(uuid)
        expect(sinceKill.passedMs(), `seed ${seed}`).toBeLessThan(20_000)
        const { type, code } = await endAsSeen(uuid)
        if (type === 'chain-completed') return expect(answer?.status).toBe(200)
        lost += 1
        expect(code).toBe('worker_lost')
        expect(answer).toMatchObject({ status: 422, body: { errorCode: 'worker_lost' } })
      }
      ends.push(
        Promise.all(conversations.map(definite)).then(async () => {
          sinceKill.stop()
          for (const { status, error_code: code } of await rowsOf(conversations)) {
            expect([status, code]).toEqual(status === 'completed' ? ['completed', null] : ['error', 'worker_lost'])
          }
        }),
      )
      // Many attached readers at once would test the machine.
      if (ends.length % 10 === 0) await Promise.all(ends)
    }
    await Promise.all(ends)
    expect(lost).toBeGreaterThan(0)
    replicas.fake.setDefault({ text: 'Hello.' })
  },
  timeFor(kills, 25_000),
)

it(
  'promise 5: an owner that was paused longer than its lease overwrites nothing',
  async () => {
    const { fake } = replicas
    for (let pause = 0; pause < pauses; pause += 1) {
      let goOn = () => {}
      const gate = new Promise<void>((resolve) => {
        goOn = resolve
      })
      // One run hangs at the provider, the other two get their whole response while the owner is paused.
      fake.enqueue(hanging, { deltas: ['all ', 'of it'], gate }, { deltas: ['all ', 'of it'], gate })
      const aborts = fake.aborted
      const { owner, stream, json, conversations } = await startOwner()
      owner.pause()
      goOn()
      const ends = await Promise.all(conversations.map(endAsSeen))
      expect(ends).toEqual(conversations.map(() => ({ type: 'chain-error', code: 'worker_lost' })))
      const stored = await rowsOf(conversations)
      owner.resume()
      await fake.waitForAbort(aborts + 1)
      // The owner's own readers get the same end, or lose their connections.
      const [own] = await Promise.all([stream.text().catch(() => ''), json])
      expect(own).not.toContain('chain-completed')
      expect((await owner.run('hello')).status).toBe(200)
      expect(await rowsOf(conversations)).toEqual(stored)
      expect(await Promise.all(conversations.map(endAsSeen))).toEqual(ends)
      await owner.kill()
    }
  },
  timeFor(pauses, 60_000),
)

it(
  'promise 7: a stop through another server ends the provider call within 4 s although its signal is lost',
  async () => {
    const { fake } = replicas
    const proxy = await faultProxy(Number(new URL(testRedisUrl ?? '').port || 6379))
    onTestFinished(() => proxy.close())
    const owner = await replicas.start({ STET_WORKERS: '5', REDIS_URL: `redis://127.0.0.1:${proxy.port}` })
    fake.setDefault(hanging)
    const calls = fake.requests.length
    const streams = await Promise.all(Array.from({ length: stops }, () => owner.open('hello')))
    await fake.waitForRequest(calls + stops)
    await proxy.cut()
    const sinceStop = startHeardTime()
    const aborts = fake.requests.slice(calls).map(async ({ left }) => {
      await left
      return sinceStop.passedMs()
    })
    const stopped = streams.map(async ({ headers }, place) =>
      watchers[place % 2]?.stop(headers.get('x-conversation-uuid') ?? ''),
    )
    for (const ms of await Promise.all(aborts)) expect(ms).toBeLessThan(4_000)
    sinceStop.stop()
    for (const answer of await Promise.all(stopped))
      expect(answer).toMatchObject({ status: 200, body: { stopped: true } })
    for (const stream of streams) {
      expect((await record(stream)).last).toMatchObject({ type: 'chain-error', error: { code: 'abort_error' } })
    }
    fake.setDefault({ text: 'Hello.' })
    await proxy.restore()
    await owner.kill()
  },
  timeFor(stops, 4_000),
)
