/** Requirements for every network driver: only complete answers, and named failures. `transport` has the rest. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ModelChunk, ProviderSettings } from '../../src/features/providers/model-driver.ts'
import { ProviderError } from '../../src/features/providers/provider-error.ts'
import { type FakeProvider, type FakeReplyFor, fakeProvider } from '../support/fake-provider.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { testDrivers } from '../support/model-drivers.ts'
import { batchesOf, callOf, chunksOf, failureOf, modelRequest, providerAt, textOf } from '../support/model-request.ts'

const drivers = testDrivers()
afterAll(() => drivers.close())

let fake: FakeProvider
beforeEach(async () => {
  fake = await fakeProvider()
})
afterEach(() => fake.close())

const protocols: [string, Partial<ProviderSettings>, Record<string, unknown>][] = [
  ['anthropic', { kind: 'anthropic' }, { input_tokens: 12, output_tokens: 8 }],
  ['openai-responses', { configuration: { endpoint: 'responses' } }, { input_tokens: 12, output_tokens: 8 }],
  ['openai-chat', {}, { prompt_tokens: 12, completion_tokens: 8 }],
]

describe.each(protocols)('%s', (_name, entry, usage) => {
  const ask = (more: Parameters<typeof modelRequest>[1] = {}, url = fake.url) => {
    const request = modelRequest(url, { provider: providerAt(url, entry), ...more })
    return callOf(drivers.patient.driverFor(request.provider), request)
  }
  const answer = {
    reasoning: 'let me think',
    text: 'Grüße 👋🏽 from afar',
    usage,
    toolCalls: [
      { id: 'c1', name: 'weather', arguments: { city: 'Zürich' }, fragments: 3 },
      { id: 'c2', name: 'stop', arguments: {} },
    ],
  }
  const checkAnswer = (chunks: ModelChunk[]) => {
    const thought = chunks.map((chunk) => (chunk.type === 'reasoning-delta' ? chunk.text : '')).join('')
    expect(thought).toBe('let me think')
    expect(textOf(chunks)).toBe('Grüße 👋🏽 from afar')
    expect(chunks.filter(({ type }) => type === 'tool-call')).toEqual([
      { type: 'tool-call', id: 'c1', toolName: 'weather', args: { city: 'Zürich' }, rawArgs: '{"city":"Zürich"}' },
      { type: 'tool-call', id: 'c2', toolName: 'stop', args: {}, rawArgs: '{}' },
    ])
    expect(chunks.filter(({ type }) => type === 'tool-input-start')).toHaveLength(2)
    expect(chunks.filter(({ type }) => type === 'finish')).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'tool-calls', usage: { inputTokens: 12, outputTokens: 8 } })
  }

  it('yields the same answer streamed and plain, the plain one in one batch', async () => {
    fake.setDefault(answer)
    checkAnswer(await chunksOf(ask()))
    const batches = await batchesOf(ask({ stream: false }))
    expect(batches).toHaveLength(1)
    checkAnswer(batches.flat())
    expect(fake.requests.map(({ body }) => body['stream'])).toEqual([true, undefined])
  })

  it('yields the first text before the answer is complete', async () => {
    let open: (() => void) | undefined
    // The gate follows the first frames, because some of them precede the text.
    fake.enqueue({ deltas: ['first', 'second'], gateAfter: 2, gate: new Promise<void>((resolve) => (open = resolve)) })
    const seen: ModelChunk[] = []
    await ask()((batch) => {
      seen.push(...batch)
      return void (textOf(seen).startsWith('first') && open?.())
    })
    expect(textOf(seen)).toBe('firstsecond')
  })

  it('fails if it is cut off at any frame, after the text so far', async () => {
    const seen: ModelChunk[] = []
    for (const cut of [0, 1, 2, 4]) {
      fake.enqueue({ text: 'a b c d e', cut })
      expect(await failureOf(ask({ maxRetries: 0 }), seen)).toMatchObject({ kind: 'unavailable' })
    }
    expect(textOf(seen)).toMatch(/a b/)
    fake.enqueue({ text: 'a b', noEndMark: true })
    expect(await failureOf(ask())).toMatchObject({ kind: 'malformed' })
    expect(fake.requests).toHaveLength(5)
  })

  const faults: [string, FakeReplyFor, Partial<ProviderError>][] = [
    ['401', { status: 401 }, { kind: 'rejected', status: 401, providerMessage: 'Failure 401' }],
    ['529', { status: 529 }, { kind: 'unavailable', status: 529 }],
  ]
  it.each(faults)('reports %s', async (_fault, reply, expected) => {
    fake.enqueue(reply)
    const failure = await failureOf(ask({ maxRetries: 0 }))
    expect(failure).toBeInstanceOf(ProviderError)
    expect(failure).toMatchObject(expected)
  })

  it('retries only before the first byte', async () => {
    fake.enqueue({ status: 529 }, { reset: true }, { text: 'late' })
    expect(textOf(await chunksOf(ask({ maxRetries: 2 })))).toBe('late')
    fake.enqueue({ status: 400 })
    await failureOf(ask({ maxRetries: 2 }))
    fake.enqueue({ text: 'a b', cut: 2 })
    await failureOf(ask({ maxRetries: 2 }))
    expect(fake.requests).toHaveLength(5)
  })

  it('completes an answer that arrives byte by byte', async () => {
    const proxy = await faultProxy(fake.port)
    proxy.chop(1)
    fake.setDefault(answer)
    checkAnswer(await chunksOf(ask({}, `http://127.0.0.1:${proxy.port}/v1`)))
    await proxy.close()
  })
})
