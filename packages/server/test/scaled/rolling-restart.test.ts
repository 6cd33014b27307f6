/** Promise 14: servers behind a load balancer are replaced one by one under load, and no request breaks. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { type RunCalls, record, runCalls, textOf } from '../runs/run-calls.ts'
import { count, timeFor } from '../support/counts.ts'
import { gate } from '../support/gate.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'
import { roundRobinProxy } from '../support/round-robin-proxy.ts'

const restarts = count(1, 20)
/** Long enough for the load balancer to notice that a server is not ready. */
const drainDelayMs = 1_000
const text = 'one two three four five six seven eight'
const clientsOfEachKind = 2
/** The pause of a client after a request. Without it, the load would measure the machine. */
const pauseMs = 20

let replicas: Replicas
beforeAll(async () => {
  replicas = await openReplicas(
    { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') },
    { count: 2, environment: { STET_DRAIN_DELAY_MS: String(drainDelayMs) } },
  )
  replicas.fake.setDefault({ deltas: text.split(/(?<= )/), delayMs: 30 })
})
afterAll(() => replicas.close())

/** Sends requests of each kind until `stop`. Collects the names of those that broke. */
function startLoad({ run, stream, background, attach, api }: RunCalls) {
  const done: Record<string, number> = {}
  const broken: string[] = []
  let isStopped = false
  const kinds: Record<string, () => Promise<unknown>> = {
    'JSON run': async () => expect(await run('hello')).toMatchObject({ status: 200, body: { response: { text } } }),
    'SSE run': async () => expect(textOf(await stream('hello'))).toBe(text),
    'background run': async () =>
      expect(await attach(await background('hello'))).toMatchObject({ status: 200, body: { response: { text } } }),
    read: async () =>
      expect(await api('GET', `${replicas.project.live}/documents/hello`)).toMatchObject({ status: 200 }),
    write: async () =>
      expect(await api('POST', '/projects', { body: { name: 'load' } })).toMatchObject({ status: 201 }),
  }
  const clients = Object.entries(kinds).flatMap(([kind, request]) =>
    Array.from({ length: clientsOfEachKind }, async () => {
      while (!isStopped) {
        await request().then(
          () => {
            done[kind] = (done[kind] ?? 0) + 1
          },
          (error: unknown) => broken.push(`${kind}: ${String(error)}`),
        )
        await delay(pauseMs)
      }
    }),
  )
  return {
    done,
    broken,
    async stop() {
      isStopped = true
      await Promise.all(clients)
    },
  }
}

it(
  'promise 14: two servers are replaced under load without a broken request',
  async () => {
    const proxy = await roundRobinProxy(replicas.server(0).url, replicas.server(1).url)
    onTestFinished(() => proxy.close())
    const load = startLoad(runCalls({ url: proxy.url, key: replicas.key, live: replicas.project.live }))
    let serving: Replica[] = [replicas.server(0), replicas.server(1)]
    for (let restart = 0; restart < restarts; restart += 1) {
      for (const old of serving) {
        const next = await replicas.start()
        proxy.add(next.url)
        const before = { ...load.done }
        expect(await old.terminate()).toMatchObject({ code: 0, stderr: '' })
        proxy.remove(old.url)
        serving = [...serving.filter((each) => each !== old), next]
        // Every kind of request went on while the server stopped.
        const hasProgressed = () => Object.entries(load.done).every(([kind, done]) => done > (before[kind] ?? 0))
        await expect.poll(hasProgressed).toBe(true)
      }
    }
    await load.stop()
    expect(load.broken).toEqual([])
    expect(proxy.broken).toEqual([])
    expect(Object.keys(load.done)).toHaveLength(5)
    expect(proxy.served.size).toBe(2 + 2 * restarts)
    await Promise.all(serving.map(({ terminate }) => terminate()))
  },
  timeFor(restarts, 120_000),
)

it('promise 14: a stopping server finishes its runs, and hands its queued runs over', async () => {
  const { fake } = replicas
  const { opened, open: goOn } = gate()
  const old = await replicas.start({ STET_WORKERS: '1' })
  const calls = fake.requests.length
  const held = { deltas: ['through ', 'it ', 'all'], gate: opened }
  fake.enqueue(held, held)
  const long = await old.open('hello')
  // Occupies the only worker.
  const started = await old.background('hello')
  await fake.waitForRequest(calls + 2)
  const queued = await Promise.all(Array.from({ length: 10 }, () => old.background('hello')))
  const ended = old.terminate()
  const successor = await replicas.start()
  for (const uuid of queued) expect(await successor.attach(uuid)).toMatchObject({ status: 200 })
  // The stopping server still waits for its own runs.
  expect(old.process.child.exitCode).toBeNull()
  const following = successor.streamAttach(started)
  expect(await successor.conversation(started)).toMatchObject({ status: 'running' })
  goOn()
  for (const recording of [record(long), following]) expect(textOf(await recording)).toBe('through it all')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  expect(fake.requests.length).toBe(calls + 2 + queued.length)
})
