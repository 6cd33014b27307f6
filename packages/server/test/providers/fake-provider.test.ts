import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'

let fake: FakeProvider
beforeEach(async () => {
  fake = await fakeProvider()
})
afterEach(() => fake.close())

const ask = (body: Record<string, unknown>, signal?: AbortSignal) =>
  fetch(`${fake.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [], ...body }),
    ...(signal ? { signal } : {}),
  })

const streaming = { stream: true, stream_options: { include_usage: true } }

const framesOf = (text: string) =>
  text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map(
      (line) => JSON.parse(line.slice(6)) as { choices: { delta: Record<string, unknown>; finish_reason: string }[] },
    )

describe('fake provider', () => {
  it('answers plainly, records requests and falls back to its default reply', async () => {
    fake.enqueue({ text: 'one two' })
    const first = (await (await ask({})).json()) as { choices: { message: { content: string } }[] }
    const second = (await (await ask({})).json()) as { choices: { message: { content: string } }[] }
    expect(first.choices[0]?.message.content).toBe('one two')
    expect(second.choices[0]?.message.content).toBe('Hello from the fake provider.')
    expect(fake.requests.map((request) => request.body['model'])).toEqual(['m', 'm'])
    expect((await fake.waitForRequest(2)).path).toBe('/v1/chat/completions')
  })

  it('streams role, words, finish reason, usage and the end mark', async () => {
    fake.enqueue({ text: ' a  b\n' })
    const text = await (await ask(streaming)).text()
    const frames = framesOf(text)
    expect(frames.map((frame) => frame.choices[0]?.delta['content']).join('')).toBe(' a  b\n')
    expect(frames.at(-2)?.choices[0]?.finish_reason).toBe('stop')
    expect(frames.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 20 } })
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('splits tool call arguments into fragments', async () => {
    fake.enqueue({ toolCalls: [{ id: 'c1', name: 'f', arguments: { a: 1 }, fragments: 3 }] })
    const deltas = framesOf(await (await ask(streaming)).text()).flatMap(
      (frame) => (frame.choices[0]?.delta['tool_calls'] as { function: { arguments: string } }[] | undefined) ?? [],
    )
    expect(deltas).toHaveLength(4)
    expect(deltas.map((delta) => delta.function.arguments).join('')).toBe('{"a":1}')
  })

  it('fails with the given status, body and headers', async () => {
    fake.enqueue({ status: 429, headers: { 'retry-after': '7' } })
    const response = await ask({})
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
  })

  it('cuts the connection mid-stream without counting a client disconnect', async () => {
    fake.enqueue({ text: 'a b c', cut: 2 })
    const response = await ask(streaming)
    await expect(response.text()).rejects.toThrow()
    expect(fake.aborted).toBe(0)
  })

  it('pauses the stream at a gate and counts a client that disconnects', async () => {
    fake.enqueue({ text: 'a b c', gate: new Promise(() => undefined) })
    const left = new AbortController()
    const response = await ask(streaming, left.signal)
    const reader = response.body?.getReader()
    await reader?.read()
    left.abort()
    await fake.waitForAbort(1)
    expect(fake.aborted).toBe(1)
  })

  it('hangs before the response head', async () => {
    fake.enqueue({ hang: 'before-head' })
    const left = new AbortController()
    const pending = ask({}, left.signal)
    await fake.waitForRequest(1)
    left.abort()
    await expect(pending).rejects.toThrow()
    await fake.waitForAbort(1)
  })
})
