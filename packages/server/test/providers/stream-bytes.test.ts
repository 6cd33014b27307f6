import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { streamChunks } from '../../src/adapters/providers/answer/stream.ts'
import { ChatReader } from '../../src/adapters/providers/openai/chat/answer.ts'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import { providerLimits } from '../../src/adapters/providers/transport/transport.ts'
import type { ModelChunk, TakeChunks } from '../../src/features/providers/model-driver.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts'
import { callOf, chunksOf, modelRequest, providerAt, serviceOf, textOf } from '../support/model-request.ts'

const frame = (body: unknown) => `data: ${JSON.stringify(body)}`
const choice = (delta: unknown, finish_reason: string | null = null) =>
  frame({ choices: [{ index: 0, delta, finish_reason }] })
const lines = [
  ': a comment',
  choice({ role: 'assistant', content: '' }),
  choice({ reasoning_content: 'denke…' }),
  choice({ content: 'Grüße 👋🏽 ' }),
  // The provider's tokenizer has split a surrogate pair.
  'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}',
  'data: {"choices":[{"delta":{"content":"\\ude00\\u0000"}}]}',
  choice({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }] }),
  choice({ tool_calls: [{ index: 0, function: { arguments: '{"stadt":"Zü' } }] }),
  choice({ tool_calls: [{ index: 0, function: { arguments: 'rich"}' } }] }),
  choice({}, 'tool_calls'),
  frame({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } }),
  'data: [DONE]',
]
const expected = {
  text: 'Grüße 👋🏽 😀\uFFFD',
  reasoning: 'denke…',
  calls: [{ type: 'tool-call', id: 'c1', toolName: 'f', args: { stadt: 'Zürich' }, rawArgs: '{"stadt":"Zürich"}' }],
  last: { type: 'finish', finishReason: 'tool-calls', usage: { inputTokens: 7, outputTokens: 5 } },
}

function check(chunks: ModelChunk[]): void {
  expect(textOf(chunks)).toBe(expected.text)
  expect(chunks.map((chunk) => (chunk.type === 'reasoning-delta' ? chunk.text : '')).join('')).toBe(expected.reasoning)
  expect(chunks.filter(({ type }) => type === 'tool-call')).toEqual(expected.calls)
  expect(chunks.at(-1)).toMatchObject(expected.last)
  expect(chunks.filter(({ type }) => type === 'finish')).toHaveLength(1)
}

const read = (...pieces: Uint8Array[]) =>
  chunksOf((take: TakeChunks) =>
    streamChunks(Readable.from(pieces), new ChatReader(serviceOf(providerAt(null))), providerLimits, take),
  )

describe('split stream', () => {
  it.each([
    ['LF', '\n\n'],
    ['CRLF', '\r\n\r\n'],
  ])('has the same result split in two at every byte, %s', async (_name, end) => {
    const bytes = Buffer.from(lines.map((line) => line + end).join(''))
    for (let at = 1; at < bytes.length; at += 1) check(await read(bytes.subarray(0, at), bytes.subarray(at)))
  })

  it('has the same result in single bytes and unsplit', async () => {
    const bytes = Buffer.from(lines.map((line) => `${line}\n\n`).join(''))
    check(await read(...Array.from(bytes, (byte) => Buffer.of(byte))))
    check(await read(bytes))
  })

  it('fails if it is cut off before the finish reason, at any byte', async () => {
    const bytes = Buffer.from(lines.map((line) => `${line}\n\n`).join(''))
    const end = bytes.indexOf('data: {"choices":[],"usage"') - 2
    for (let at = 0; at < end; at += 7) {
      await expect(read(bytes.subarray(0, at))).rejects.toMatchObject({ kind: 'malformed' })
    }
  })
})

describe('backpressure', () => {
  const piece = (text: string) => Buffer.from(`${choice({ content: text })}\n\n`)

  it('pauses the provider, and then delivers the whole answer in order', async () => {
    const body = new Readable({ read: () => undefined })
    const seen: ModelChunk[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const whole = streamChunks(body, new ChatReader(serviceOf(providerAt(null))), providerLimits, (batch) => {
      seen.push(...batch)
      return gate
    })
    body.push(piece('0'))
    await expect.poll(() => body.isPaused()).toBe(true)
    for (let pieces = 1; pieces < 99; pieces += 1) body.push(piece(`,${pieces}`))
    body.push(`${lines.at(-1)}\n\n`)
    body.push(null)
    expect(textOf(seen)).toBe('0')
    expect(body.readableLength).toBeGreaterThan(1_000)
    open()
    await whole
    expect(textOf(seen)).toBe(Array.from({ length: 99 }, (_, index) => index).join())
    expect(seen.at(-1)?.type).toBe('finish')
  })

  it('processes waiting chunks before it reports a failure', async () => {
    const body = new Readable({ read: () => undefined })
    let taken = false
    const failing = streamChunks(body, new ChatReader(serviceOf(providerAt(null))), providerLimits, async () => {
      body.destroy()
      await new Promise((resolve) => body.on('close', resolve))
      taken = true
    })
    body.push(piece('last'))
    await expect(failing).rejects.toMatchObject({ kind: 'unavailable' })
    expect(taken).toBe(true)
  })
})

describe('bad connection', () => {
  let fake: FakeProvider
  let proxy: FaultProxy
  const drivers = createModelDrivers({
    guard: { allowedPrivateHosts: [] },
    clock: systemClock,
    limits: { backoffMs: 1 },
  })
  beforeAll(async () => {
    fake = await fakeProvider()
    proxy = await faultProxy(fake.port)
  })
  afterAll(async () => {
    await drivers.close()
    await proxy.close()
    await fake.close()
  })
  const call = (maxRetries: number) => {
    const request = modelRequest(`http://127.0.0.1:${proxy.port}/v1`, { maxRetries })
    return chunksOf(callOf(drivers.driverFor(request.provider), request))
  }

  it('retries connections that are reset before the first byte, as often as configured', async () => {
    proxy.resetNext(2)
    fake.enqueue({ text: 'at last' })
    expect(textOf(await call(2))).toBe('at last')
    expect(proxy.connections).toBe(3)
    proxy.resetNext(5)
    await expect(call(0)).rejects.toMatchObject({ kind: 'unavailable' })
    proxy.resetNext(0)
  })

  it('completes an answer that arrives byte by byte', async () => {
    proxy.chop(1)
    fake.enqueue({ text: 'ä ö ü 👋' })
    expect(textOf(await call(0))).toBe('ä ö ü 👋')
  })
})
