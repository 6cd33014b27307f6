/** Runs whose server dies or freezes, seen from the other servers. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { record } from '../runs/run-calls.ts'
import { count, report, seed, timeFor } from '../support/counts.ts'
import { gate as openGate } from '../support/gate.ts'
import { startHeardTime } from '../support/heard-time.ts'
import { seededRandom } from '../support/random.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const kills = count(2, 200)
const pauses = count(1, 50)
/** Owners that start, die or freeze together. Each has its own runs, its own moment and its own checks. */
const batch = 6

const stepMs = 20
const deltas = Array.from({ length: 100 }, (_, word) => `word${word} `)
const endless = { deltas: Array.from({ length: 10_000 }, () => '. '), delayMs: 5_000 }
const hanging = { deltas: ['half ', 'way'], hang: 'mid-stream' } as const

/** The kinds of run, each with a prompt of this name. */
const kinds = ['streamed', 'json', 'background']

let replicas: Replicas
let watchers: readonly Replica[]
beforeAll(async () => {
  replicas = await openReplicas(
    Object.fromEntries(['hello', ...kinds].map((name) => [name, prompt(`<user>${name}</user>`, 'maxRetries: 0\n')])),
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

interface Owner {
  server: Replica
  stream: Response
  json: Promise<unknown>
  conversations: string[]
}

/**
 * Starts servers that own one run of each kind. Each has one worker, so it takes one of the background runs. Resolves when
 * the provider has all requests.
 */
async function startOwners(owners: number): Promise<Owner[]> {
  const { fake } = replicas
  const servers = await Promise.all(Array.from({ length: owners }, () => replicas.start({ STET_WORKERS: '1' })))
  const calls = fake.requests.length
  const started = await Promise.all(
    servers.map(async (server) => {
      const json = server.run('json').catch(() => undefined)
      const [stream] = await Promise.all([server.open('streamed'), server.background('background')])
      return { server, stream, json }
    }),
  )
  await fake.waitForRequest(calls + owners * kinds.length)
  return await Promise.all(
    started.map(async (owner) => {
      const streamed = owner.stream.headers.get('x-conversation-uuid') ?? ''
      const owned = async () => {
        const [first] = await rowsOf([streamed])
        return await replicas.query<RunRow>('SELECT * FROM run WHERE owner_id = $1', [first?.owner_id])
      }
      await expect.poll(async () => (await owned()).length).toBe(kinds.length)
      return { ...owner, conversations: (await owned()).map((row) => row.conversation_uuid) }
    }),
  )
}

const batchesOf = (total: number) =>
  Array.from({ length: Math.ceil(total / batch) }, (_, place) => Math.min(batch, total - place * batch))

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

interface Ends {
  lost: number
  completed: number
  worstMs: number
}

/** Kills the owner and checks each of its runs. */
async function expectDefiniteEnds({ server, stream, json, conversations }: Owner, ends: Ends): Promise<void> {
  await server.kill()
  const sinceKill = startHeardTime()
  // The owner's own readers lose their connections.
  await Promise.all([stream.text().catch(() => undefined), json])
  const definite = async (uuid: string, place: number) => {
    const answer = await watchers[place % 2]?.attach(uuid)
    const ms = sinceKill.passedMs()
    expect(ms, `seed ${seed}`).toBeLessThan(20_000)
    ends.worstMs = Math.max(ends.worstMs, ms)
    const { type, code } = await endAsSeen(uuid)
    if (type === 'chain-completed') {
      ends.completed += 1
      return expect(answer?.status).toBe(200)
    }
    ends.lost += 1
    expect(code).toBe('worker_lost')
    expect(answer).toMatchObject({ status: 422, body: { errorCode: 'worker_lost' } })
  }
  await Promise.all(conversations.map(definite))
  sinceKill.stop()
  for (const { status, error_code: code } of await rowsOf(conversations)) {
    expect([status, code]).toEqual(status === 'completed' ? ['completed', null] : ['error', 'worker_lost'])
  }
}

it(
  'promise 4: after kill -9 of the owner, every run has a definite error within 20 s and one terminal event',
  async () => {
    const random = seededRandom(seed)
    const ends = { lost: 0, completed: 0, worstMs: 0 }
    let previous: Promise<unknown> = Promise.resolve()
    for (const owners of batchesOf(kills)) {
      const { opened: gate, open } = openGate()
      replicas.fake.setDefault({ deltas, delayMs: stepMs, gate, gateAfter: 0 })
      const started = await startOwners(owners)
      // Many attached readers at once would test the machine.
      await previous
      open()
      previous = Promise.all(
        started.map(async (owner) => {
          await delay(random() * stepMs * deltas.length)
          await expectDefiniteEnds(owner, ends)
        }),
      )
      previous.catch(() => undefined)
      await Promise.all(started.map(({ server }) => server.process.ended))
    }
    await previous
    expect(ends.lost).toBeGreaterThan(0)
    expect(ends.lost + ends.completed).toBe(kills * kinds.length)
    report('promise 4', { kills, ...ends })
    replicas.fake.setDefault({ text: 'Hello.' })
  },
  timeFor(kills, 25_000),
)

it(
  'promise 5: an owner that was paused longer than its lease overwrites nothing',
  async () => {
    const { fake } = replicas
    let worstMs = 0
    for (const [place, owners] of batchesOf(pauses).entries()) {
      const { opened: gate, open } = openGate()
      const hangs = kinds[place % kinds.length] ?? ''
      // One run of each owner hangs at the provider, the other two get their whole response while the owner is paused.
      fake.setDefault(({ body }) =>
        JSON.stringify(body['messages']).includes(hangs) ? hanging : { deltas: ['all ', 'of it'], gate },
      )
      const aborts = fake.aborted
      const started = await startOwners(owners)
      const conversations = started.flatMap((owner) => owner.conversations)
      for (const { server } of started) server.pause()
      open()
      const sincePause = startHeardTime()
      const ends = await Promise.all(conversations.map(endAsSeen))
      worstMs = Math.max(worstMs, sincePause.passedMs())
      sincePause.stop()
      expect(ends).toEqual(conversations.map(() => ({ type: 'chain-error', code: 'worker_lost' })))
      const stored = await rowsOf(conversations)
      for (const { server } of started) server.resume()
      await fake.waitForAbort(aborts + owners)
      for (const { server, stream, json } of started) {
        // The owner's own readers get the same end, or lose their connections.
        const [own] = await Promise.all([stream.text().catch(() => ''), json])
        expect(own).not.toContain('chain-completed')
        expect((await server.run('hello')).status).toBe(200)
      }
      expect(await rowsOf(conversations)).toEqual(stored)
      expect(await Promise.all(conversations.map(endAsSeen))).toEqual(ends)
      await Promise.all(started.map(({ server }) => server.kill()))
    }
    report('promise 5', { pauses, worstMs })
    fake.setDefault({ text: 'Hello.' })
  },
  timeFor(pauses, 60_000),
)
