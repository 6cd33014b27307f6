import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterEach, expect, it, vi } from 'vitest'
import { startHeardTime } from '../support/heard-time.ts'
import { prompt, type Recording, type RunBench, runBench, textOf } from './run-bench.ts'

// Each test opens its own server, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let bench: RunBench
afterEach(() => bench.close())

const prompts = { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') }

async function untilStatus(uuid: string, status: string): Promise<Record<string, unknown>> {
  const active = bench.server.deps.runs.active.list().find((run) => run.conversationUuid === uuid)
  await active?.ended
  const conversation = await bench.conversation(uuid)
  expect(conversation['status']).toBe(status)
  return conversation
}

async function leave(mode: 'stream' | 'json'): Promise<string> {
  const controller = new AbortController()
  const answer = bench.open('hello', { stream: mode === 'stream' }, controller.signal)
  const failed = answer.catch(() => undefined)
  await bench.fake.waitForRequest(bench.fake.requests.length + 1)
  if (mode === 'stream') await answer
  const [run] = bench.server.deps.runs.active.list()
  controller.abort()
  await failed
  return run?.conversationUuid ?? ''
}

for (const mode of ['stream', 'json'] as const) {
  it(`promise 10: without grace, ${mode}: the provider call ends immediately when the client disconnects`, async () => {
    bench = await runBench(prompts, { STET_GRACE_MS: '0' })
    bench.fake.enqueue({ text: 'never whole', hang: mode === 'stream' ? 'mid-stream' : 'after-head' })
    const uuid = await leave(mode)
    await bench.fake.waitForAbort(1)
    const conversation = await untilStatus(uuid, 'stopped')
    expect(conversation['error']).toMatchObject({ errorCode: 'abort_error' })
  })

  it(`promise 10: 200 ms of grace, ${mode}: the run continues for that time, then ends`, async () => {
    bench = await runBench(prompts, { STET_GRACE_MS: '200' })
    bench.fake.enqueue({ text: 'never whole', hang: mode === 'stream' ? 'mid-stream' : 'after-head' })
    const uuid = await leave(mode)
    const leftAt = performance.now()
    const heard = startHeardTime()
    await bench.fake.waitForAbort(1)
    heard.stop()
    expect(performance.now() - leftAt).toBeGreaterThan(150)
    expect(heard.passedMs()).toBeLessThan(1_200)
    await untilStatus(uuid, 'stopped')
  })
}

it('promise 10: within the grace period a run ends as if it had a reader', async () => {
  bench = await runBench(prompts, { STET_GRACE_MS: '30000' })
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  bench.fake.enqueue({ text: 'whole after all', gate })
  const uuid = await leave('stream')
  open()
  const conversation = await untilStatus(uuid, 'completed')
  expect(JSON.stringify(conversation['conversation'])).toContain('whole after all')
})

it("promise 11: a run's time limit ends an endless slow response", async () => {
  bench = await runBench(prompts, { STET_RUN_TIMEOUT_SECONDS: '1' })
  bench.fake.setDefault({ deltas: Array.from({ length: 10_000 }, () => 'some '), delayMs: 20 })
  let recording: Recording
  // On a paused machine the second may pass before the first word arrives, so the test tries again.
  do {
    recording = await bench.stream('hello')
    expect(recording.last).toMatchObject({
      type: 'chain-error',
      error: { code: 'run_timeout_error', details: { seconds: 1 } },
    })
    await bench.fake.waitForAbort(bench.fake.requests.length)
  } while (textOf(recording) === '')
  expect(JSON.stringify(recording.last['messages'])).toContain('some ')
})

it('a stalled reader delays only itself and eventually gets every byte', async () => {
  bench = await runBench(prompts)
  const word = 'x'.repeat(4_000)
  const text = Array.from({ length: 1_000 }, () => word)
  bench.fake.enqueue({ deltas: text })
  const { port } = new URL(bench.server.url)
  const asked = request({
    port,
    method: 'POST',
    path: `/api/v3${bench.live}/documents/run`,
    headers: { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' },
  }).end(JSON.stringify({ path: 'hello', stream: true }))
  // Node does not read a response without a listener, so this client stalls.
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  await bench.fake.waitForRequest(1)
  const [run] = bench.server.deps.runs.active.list()
  await run?.ended
  expect((await bench.run('hello')).status).toBe(200)
  let received = ''
  for await (const chunk of response.setEncoding('utf8')) received += String(chunk)
  expect(received.match(/"type":"text-delta"/g)).toHaveLength(1_000)
  expect(received.match(/"type":"chain-completed"/g)).toHaveLength(1)
})
