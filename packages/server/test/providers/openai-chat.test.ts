import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ModelChunk } from '../../src/features/providers/model-driver.ts'
import { ProviderError } from '../../src/features/providers/provider-error.ts'
import { type FakeProvider, type FakeReplyFor, fakeProvider } from '../support/fake-provider.ts'
import { testDrivers } from '../support/model-drivers.ts'
import { batchesOf, callOf, chunksOf, failureOf, modelRequest, textOf } from '../support/model-request.ts'

const drivers = testDrivers()
afterAll(() => drivers.close())

let fake: FakeProvider
beforeEach(async () => {
  fake = await fakeProvider()
})
afterEach(() => fake.close())

const ask = (more: Parameters<typeof modelRequest>[1] = {}, by = drivers.patient) => {
  const request = modelRequest(fake.url, more)
  return callOf(by.driverFor(request.provider), request)
}
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

describe('streamed answer', () => {
  it('yields reasoning, text and one finish with complete usage', async () => {
    fake.enqueue({ reasoning: 'hm', deltas: ['a', ' b', ''], usage })
    const chunks = await chunksOf(ask())
    expect(chunks).toEqual([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'a' },
      { type: 'text-delta', text: ' b' },
      {
        type: 'finish',
        finishReason: 'stop',
        usage: {
          inputTokens: 100,
          outputTokens: 20,
          promptTokens: 100,
          completionTokens: 20,
          totalTokens: 120,
          reasoningTokens: 5,
          cachedInputTokens: 60,
        },
      },
    ])
    expect(fake.requests[0]?.body).toEqual({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('yields the first text before the answer is complete', async () => {
    let open: (() => void) | undefined
    fake.enqueue({ deltas: ['first', 'second'], gate: new Promise<void>((resolve) => (open = resolve)) })
    const seen: ModelChunk[] = []
    await ask()((batch) => {
      seen.push(...batch)
      return void (textOf(seen) === 'first' && open?.())
    })
    expect(textOf(seen)).toBe('firstsecond')
  })

  it('assembles tool calls from fragments in order', async () => {
    fake.enqueue({
      toolCalls: [
        { id: 'c1', name: 'weather', arguments: { city: 'Bern' }, fragments: 3 },
        { id: 'c2', name: 'stop', arguments: '' },
        { id: 'c3', name: 'odd', arguments: '[1]' },
      ],
    })
    const chunks = await chunksOf(ask())
    expect(chunks.filter(({ type }) => type === 'tool-call')).toEqual([
      { type: 'tool-call', id: 'c1', toolName: 'weather', args: { city: 'Bern' }, rawArgs: '{"city":"Bern"}' },
      { type: 'tool-call', id: 'c2', toolName: 'stop', args: {}, rawArgs: '' },
      { type: 'tool-call', id: 'c3', toolName: 'odd', args: undefined, rawArgs: '[1]' },
    ])
    expect(chunks.filter(({ type }) => type === 'tool-input-start')).toHaveLength(3)
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'tool-calls' })
  })

  it('succeeds with only a finish reason or only the end mark', async () => {
    const delta = (body: unknown) => `data: ${JSON.stringify(body)}\n\n`
    const text = delta({ choices: [{ delta: { content: 'x' } }] })
    fake.enqueue(
      { raw: [text, delta({ choices: [{ delta: {}, finish_reason: 'length' }] })] },
      { raw: [text, 'data: [DONE]\n\n'] },
    )
    expect((await chunksOf(ask())).at(-1)).toMatchObject({ type: 'finish', finishReason: 'length' })
    expect((await chunksOf(ask())).at(-1)).toMatchObject({ type: 'finish', finishReason: 'unknown' })
  })

  it('accepts a plain answer to a streamed request', async () => {
    fake.enqueue({
      status: 200,
      body: { choices: [{ index: 0, message: { content: 'plain' }, finish_reason: 'stop' }] },
    })
    expect(textOf(await chunksOf(ask()))).toBe('plain')
  })

  it('reuses connections and opens a second one only while the first is busy', async () => {
    for (let calls = 0; calls < 8; calls += 1) await chunksOf(ask())
    expect(fake.connections).toBeLessThanOrEqual(2)
  })
})

describe('plain answer', () => {
  it('yields the same chunks in one batch', async () => {
    fake.enqueue({ text: 'a b', reasoning: 'hm', usage, toolCalls: [{ id: 'c1', name: 'f', arguments: { a: 1 } }] })
    const batches = await batchesOf(ask({ stream: false }))
    expect(batches).toHaveLength(1)
    expect(batches[0]?.map(({ type }) => type)).toEqual([
      'reasoning-delta',
      'text-delta',
      'tool-input-start',
      'tool-input-delta',
      'tool-call',
      'finish',
    ])
    expect(batches[0]?.at(-1)).toMatchObject({
      finishReason: 'tool-calls',
      usage: { cachedInputTokens: 60, reasoningTokens: 5 },
    })
    expect(fake.requests[0]?.body).not.toHaveProperty('stream')
  })
})

describe('failures', () => {
  const huge = `data: {"choices":[{"delta":{"content":"${'x'.repeat(4_300_000)}"}}]}\n\n`
  const good = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
  const cases: [string, FakeReplyFor, Partial<ProviderError>][] = [
    ['401', { status: 401 }, { kind: 'rejected', status: 401 }],
    ['400 with a text body', { status: 400, body: 'nope' }, { kind: 'rejected', status: 400, providerMessage: 'nope' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, { kind: 'rejected', status: 302 }],
    [
      '429 with Retry-After',
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'rate_limited', status: 429, retryAfterMs: 7000 },
    ],
    ['500', { status: 500 }, { kind: 'unavailable', status: 500 }],
    ['a hang before the head', { hang: 'before-head' }, { kind: 'timeout' }],
    ['a hang after the head', { hang: 'after-head' }, { kind: 'timeout' }],
    ['a hang mid-stream', { text: 'a b c', hang: 'mid-stream' }, { kind: 'timeout' }],
    ['a cut connection', { text: 'a b c', cut: 2 }, { kind: 'unavailable' }],
    ['no end mark', { text: 'a b', noEndMark: true }, { kind: 'malformed' }],
    ['garbage', { garbage: true }, { kind: 'malformed' }],
    ['invalid JSON', { raw: ['data: {"choices":[\n\n'] }, { kind: 'malformed' }],
    ['a truncated UTF-8 character', { raw: [good, new Uint8Array([0x64, 0xc3])] }, { kind: 'malformed' }],
    ['invalid UTF-8', { raw: [good, new Uint8Array([0xc3, 0x28, 0x0a])] }, { kind: 'malformed' }],
    ['an oversized frame', { raw: [huge] }, { kind: 'malformed' }],
    ['an HTML page', { raw: ['<html>sorry</html>'], headers: { 'content-type': 'text/html' } }, { kind: 'malformed' }],
    ['a plain answer without choices', { status: 200, body: { hello: 'you' } }, { kind: 'malformed' }],
    ['an oversized head', { status: 200, headers: { 'x-large': 'x'.repeat(70_000) } }, { kind: 'malformed' }],
    [
      'an error frame',
      { raw: [good, 'data: {"error":{"message":"overloaded","code":503}}\n\n'] },
      { kind: 'unavailable', status: 503, providerMessage: 'overloaded' },
    ],
  ]
  it.each(cases)('%s', async (_name, reply, expected) => {
    fake.enqueue(reply)
    const failure = await failureOf(ask({ maxRetries: 0 }, drivers.forReply(reply)))
    expect(failure).toBeInstanceOf(ProviderError)
    expect(failure).toMatchObject(expected)
  })

  it('keeps the text received before the failure', async () => {
    fake.enqueue({ text: 'a b c', cut: 2 })
    const seen: ModelChunk[] = []
    await failureOf(ask({ maxRetries: 0 }), seen)
    expect(textOf(seen)).toBe('a b')
  })

  it('reports a plain answer that is too large', async () => {
    fake.enqueue({ text: 'x'.repeat(6000) })
    expect(await failureOf(ask({ stream: false }))).toMatchObject({ kind: 'malformed' })
  })

  it('removes secrets from the provider’s message', async () => {
    fake.enqueue({
      status: 401,
      body: { error: { message: 'Incorrect API key: test-token-123. Also sk-abcdefgh12345678.' } },
    })
    const failure = await failureOf(ask())
    expect(failure).toMatchObject({ providerMessage: 'Incorrect API key: ***. Also ***.' })
  })

  it('reports an address that refuses connections', async () => {
    // No other process can listen on this port.
    const { provider } = modelRequest('http://127.0.0.1:1/v1')
    expect(await failureOf(ask({ provider, maxRetries: 0 }))).toMatchObject({ kind: 'unavailable' })
  })
})

describe('retries', () => {
  it.each([408, 409, 429, 500, 503])('happen on %i, up to the configured count', async (status) => {
    fake.enqueue({ status }, { status }, { text: 'late' })
    expect(textOf(await chunksOf(ask({ maxRetries: 2 })))).toBe('late')
    expect(fake.requests).toHaveLength(3)
  })

  it.each([400, 401, 404, 422])('never happen on %i', async (status) => {
    fake.enqueue({ status })
    await failureOf(ask({ maxRetries: 2 }))
    expect(fake.requests).toHaveLength(1)
  })

  it('wait for Retry-After, and give up immediately if it exceeds a minute', async () => {
    fake.enqueue({ status: 429, headers: { 'retry-after-ms': '80' } }, { text: 'late' })
    const start = performance.now()
    expect(textOf(await chunksOf(ask({ maxRetries: 1 })))).toBe('late')
    expect(performance.now() - start).toBeGreaterThanOrEqual(75)
    fake.enqueue({ status: 429, headers: { 'retry-after': '61' } })
    expect(await failureOf(ask({ maxRetries: 5 }))).toMatchObject({ retryAfterMs: 61_000 })
    expect(fake.requests).toHaveLength(3)
  })

  it('do not happen after the first byte', async () => {
    fake.enqueue({ text: 'a b', cut: 1 }, { hang: 'after-head' })
    await failureOf(ask({ maxRetries: 2 }))
    await failureOf(ask({ maxRetries: 2 }, drivers.impatient))
    // The client may give up before the fake has read the request, which then arrives later.
    await fake.waitForRequest(2)
    expect(fake.requests).toHaveLength(2)
  })
})

describe('abort', () => {
  it.each(['before-head', 'after-head', 'mid-stream'] as const)(
    '%s: throws the reason and disconnects from the provider',
    async (hang) => {
      const controller = new AbortController()
      fake.enqueue({ text: 'a b', hang })
      const reason = new Error('stop now')
      const failure = failureOf(ask({ signal: controller.signal, maxRetries: 2 }))
      await fake.waitForRequest(1)
      controller.abort(reason)
      expect(await failure).toBe(reason)
      await fake.waitForAbort(1)
    },
  )

  it('works before the call and during the wait for a retry', async () => {
    const reason = new Error('stop now')
    expect(await failureOf(ask({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    const controller = new AbortController()
    fake.enqueue({ status: 429, headers: { 'retry-after': '30' } })
    const failure = failureOf(ask({ signal: controller.signal, maxRetries: 1 }))
    await fake.waitForRequest(1)
    controller.abort(reason)
    expect(await failure).toBe(reason)
    expect(fake.requests).toHaveLength(1)
  })

  it.each([
    ['later', () => Promise.reject(new Error('no'))],
    [
      'immediately',
      () => {
        throw new Error('no')
      },
    ],
  ])('disconnects from the provider if the consumer fails, %s', async (_name, take) => {
    fake.enqueue({ text: 'a b', gate: new Promise(() => undefined) })
    await expect(ask()(take)).rejects.toThrow('no')
    await fake.waitForAbort(1)
    expect(fake.aborted).toBe(1)
  })
})
