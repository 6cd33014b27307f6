/** How an answer ends on a connection: after its finish reason, the driver waits only for counts. */
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import type { ModelChunk, ProviderSettings } from '../../src/features/providers/model-driver.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { anthropicWire } from '../support/fake-anthropic-wire.ts'
import { type FakeBytes, type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { chatWire, type FakeWire } from '../support/fake-provider-wire.ts'
import { callOf, chunksOf, failureOf, modelRequest, providerAt, textOf } from '../support/model-request.ts'

const endMs = 100
// The silence limit is longer than the test's, so that only the limit after the finish reason ends an open answer.
const drivers = createModelDrivers({
  guard: { allowedPrivateHosts: [] },
  clock: systemClock,
  limits: { endMs, backoffMs: 1 },
})
afterAll(() => drivers.close())

let fake: FakeProvider
beforeEach(async () => {
  fake = await fakeProvider()
})
afterEach(() => {
  vi.useRealTimers()
  return fake.close()
})

const ask = (more: Partial<ProviderSettings> = {}, stream = true) => {
  const request = modelRequest(fake.url, { provider: providerAt(fake.url, more), stream })
  return callOf(drivers.driverFor(request.provider), request)
}

const protocols: [string, Partial<ProviderSettings>, FakeWire, boolean][] = [
  ['chat', {}, chatWire, true],
  ['chat, a stream in place of JSON', {}, chatWire, false],
  ['anthropic', { kind: 'anthropic' }, anthropicWire, true],
  ['anthropic, a stream in place of JSON', { kind: 'anthropic' }, anthropicWire, false],
]

describe.each(protocols)('%s', (_name, entry, wire, stream) => {
  const identity = { id: 'x', model: 'gpt-4o' }
  const whole =
    wire.head(identity, {}) + wire.content(identity, { text: 'a b' }).join('') + wire.end(identity, {}, true)
  const frames = whole.split(/(?<=\n\n)/).filter((frame) => !/\[DONE\]|message_stop/.test(frame))
  const withoutCounts = frames.filter((frame) => !/"choices":\[\]/.test(frame))

  it.each<[string, FakeBytes]>([
    ['an open connection', { raw: frames, end: 'never' }],
    ['heartbeats', { raw: [...frames, ...Array(100).fill(': ping\n\n')], delayMs: 20, end: 'never' }],
    ['data heartbeats', { raw: [...frames, ...Array(100).fill('data: {"type":"ping"}\n\n')], delayMs: 20 }],
    ['a reset', { raw: frames, end: 'reset' }],
    ['a closed connection', { raw: frames, end: 'broken' }],
    ['no counts', { raw: withoutCounts, end: 'never' }],
  ])('completes with %s', async (_end, reply) => {
    fake.enqueue(reply)
    const chunks = await chunksOf(ask(entry, stream))
    expect(textOf(chunks)).toBe('a b')
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    if (reply.end === 'never') await fake.waitForAbort(1)
  })

  it('reports what was counted before a failure', async () => {
    const counted = '{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":12,"completion_tokens":1}}'
    fake.enqueue({ raw: [wire === chatWire ? `data: ${counted}\n\n` : wire.head(identity, {})], end: 'broken' })
    const seen: ModelChunk[] = []
    expect(await failureOf(ask(entry, stream), seen)).toMatchObject({ kind: 'unavailable' })
    expect(textOf(seen)).toBe(wire === chatWire ? 'a' : '')
    expect(seen.at(-1)).toMatchObject({ type: 'usage', usage: { inputTokens: 12, outputTokens: 1 } })
  })
})

it('waits for the counts after a finish reason while the caller is slow', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const identity = { id: 'x', model: 'gpt-4o' }
  const ended = chatWire.content(identity, { text: 'a' }).join('') + chatWire.end(identity, {}, false)
  const counts = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 8 } }
  fake.enqueue({ raw: [ended.replace(/data: \[DONE\]\s+/, ''), `data: ${JSON.stringify(counts)}\n\n`], delayMs: 5 })
  const seen: ModelChunk[] = []
  await ask()(async (batch) => {
    seen.push(...batch)
    // The driver starts its clock after it has passed the batch on.
    await Promise.resolve()
    vi.advanceTimersByTime(10 * endMs)
  })
  expect(textOf(seen)).toBe('a')
  expect(seen.at(-1)).toMatchObject({ usage: { inputTokens: 12, outputTokens: 8 } })
})

it.each([true, false])('reads JSON of any content type, streaming %s', async (stream) => {
  const body = '\n{ "choices": [{ "message": { "content": "Hi" }, "finish_reason": "stop" }] }'
  for (const type of ['text/event-stream', 'text/plain', 'application/json']) {
    fake.enqueue({ raw: [body], headers: { 'content-type': type } })
    expect(textOf(await chunksOf(ask({}, stream)))).toBe('Hi')
  }
})

it.each([true, false])('keeps the text and counts of JSON before a failure, streaming %s', async (stream) => {
  const message = { content: 'Hi', audio: { id: 'a' } }
  fake.enqueue({ status: 200, body: { choices: [{ message }], usage: { prompt_tokens: 12 } } })
  const seen: ModelChunk[] = []
  expect(await failureOf(ask({}, stream), seen)).toMatchObject({ kind: 'uncarried' })
  expect(textOf(seen)).toBe('Hi')
  expect(seen.at(-1)).toMatchObject({ type: 'usage', usage: { inputTokens: 12 } })
})

it.each([true, false])('reads a stream of any content type, streaming %s', async (stream) => {
  const raw = ['data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n', 'data: [DONE]\n\n']
  fake.enqueue({ raw, headers: { 'content-type': 'application/json' }, end: 'never' })
  expect(textOf(await chunksOf(ask({}, stream)))).toBe('Hi')
})

describe('stream_options', () => {
  const refusal = { status: 400, body: { error: { message: "Unknown parameter: 'stream_options'." } } }
  const asked = () => fake.requests.map(({ body }) => 'stream_options' in body)

  it('are sent no more after a service has refused them', async () => {
    const provider = providerAt(fake.url)
    const driver = drivers.driverFor(provider)
    const call = () => chunksOf(callOf(driver, modelRequest(null, { provider })))
    fake.enqueue(refusal)
    expect(textOf(await call())).not.toBe('')
    await call()
    expect(asked()).toEqual([true, false, false])
    await chunksOf(callOf(drivers.driverFor(provider), modelRequest(null, { provider })))
    expect(asked().at(-1)).toBe(true)
  })

  it('are sent no more by concurrent calls that were refused', async () => {
    const provider = providerAt(fake.url)
    const driver = drivers.driverFor(provider)
    fake.setDefault(({ body }) => ('stream_options' in body ? refusal : { text: 'Hi' }))
    const call = async () => textOf(await chunksOf(callOf(driver, modelRequest(null, { provider }))))
    expect(await Promise.all(Array.from({ length: 5 }, call))).toEqual(Array.from({ length: 5 }, () => 'Hi'))
  })

  it('are refused once: a second refusal fails the call', async () => {
    fake.enqueue(refusal, refusal)
    expect(await failureOf(ask())).toMatchObject({ status: 400 })
    expect(asked()).toEqual([true, false])
  })

  it('are not sent if the provider key turns them off', async () => {
    await chunksOf(ask({ configuration: { streamOptions: false } }))
    expect(asked()).toEqual([false])
  })

  it('stay after another refusal', async () => {
    fake.enqueue({ status: 400, body: { error: { message: 'No such model' } } })
    await failureOf(ask())
    expect(asked()).toEqual([true])
  })
})
