import { Readable } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { sentDuring } from '../matrix/client-bench.ts'
import { pythonClient } from './python-client.ts'
import { pythonEvents } from './python-http.ts'
import type { ReadyPython } from './ready.ts'

export function repeatTests(ready: () => ReadyPython): void {
  test.each([408, 429, 500, 502, 503, 504])('after %i twice the third try is served, and runs once', async (status) => {
    const { client, bench } = ready()
    const before = bench.provider.requests.length
    bench.front.refuseNext(status, status)
    const { answer, sent } = await sentDuring(bench, () => client.prompts.run('greet'))
    expect(answer).toMatchObject({ response: { text: 'Hello from the fake provider.' } })
    expect(bench.provider.requests.length - before).toBe(1)
    expect(sent.map(({ text }) => text)).toEqual([sent[0]?.text, sent[0]?.text, sent[0]?.text])
    expect(sent.filter(({ headers }) => 'idempotency-key' in headers)).toEqual([])
  })

  test('the third refusal raises an error', async () => {
    const { client, bench } = ready()
    bench.front.refuseNext(503, 503, 503)
    await expect(client.prompts.get('greet')).rejects.toMatchObject({ status: 503, code: 'RefusedError' })
  })

  test('its own waits, 0.5 and 1 s, are enough for the rate limit of the server', async () => {
    const { bench } = ready()
    const { key } = await bench.server.client.apiKeys.create({ name: 'slow', plan: 'custom', limit: 1 })
    const client = pythonClient({ port: bench.front.port, key })
    // Sends sequential requests until two share a rate-limit window. The second one is retried.
    for (let round = 0; round < 50; round += 1) {
      const { answer, sent } = await sentDuring(bench, () => client.prompts.get('greet'))
      expect(answer.path).toBe('greet')
      if (sent.length > 1) return
    }
    expect.fail('The limit was never reached')
  })

  test.each([
    ['a refusal', { status: 503 }],
    ['too many requests', { status: 429 }],
    ['garbage', { garbage: true as const }],
    ['a cut', { text: 'one two three', cut: 1 }],
  ])('%s of the provider is no reason to repeat: the run is made once', async (_name, reply) => {
    const { client, bench } = ready()
    const before = bench.provider.requests.length
    bench.provider.enqueue(reply)
    const { lines } = await sentDuring(bench, () =>
      expect(client.prompts.run('once', { stream: false })).rejects.toMatchObject({ status: 422 }),
    )
    expect(lines).toHaveLength(1)
    expect(bench.provider.requests.length - before).toBe(1)
  })
}

export function silenceTests(ready: () => ReadyPython): void {
  afterEach(() => void vi.useRealTimers())

  test('a heartbeat of the stream is no event for the client', async () => {
    const { client, bench } = ready()
    let finish = () => {}
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    bench.provider.enqueue({ deltas: ['First', ' and last'], gate })
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    // `performance.now` must never go backwards in this process, so the offset stays after the test.
    let aheadMs = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
    const result = await client.prompts.run('greet', {
      on_event({ textDelta }) {
        if (textDelta !== 'First') return
        aheadMs = 15_000
        vi.advanceTimersByTime(15_000)
        finish()
      },
    })
    expect(result).toMatchObject({ response: { text: 'First and last' } })
  })
}

export function parserTests(ready: () => ReadyPython): void {
  const parse = async (text: string, pieceLength: number, contentType = 'text/event-stream; charset=utf-8') => {
    const bytes = Buffer.from(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / pieceLength) }, (_, index) =>
      bytes.subarray(index * pieceLength, (index + 1) * pieceLength),
    )
    const events: string[] = []
    for await (const { event, data } of pythonEvents(Readable.from(pieces), contentType))
      events.push(`${event}=${data}`)
    return events
  }

  test.each([1, 2, 3, 1_000])('comments, ids and unknown fields are no events (pieces of %i bytes)', async (length) => {
    const text =
      ': hello\n\nevent: a\ndata: {"x":"é"}\nid: 1\n\n: ping\nunknown: x\nevent: b\r\ndata: 1\r\ndata: 2\r\n\r\n'
    expect(await parse(text, length)).toEqual(['a={"x":"é"}', 'b=1\n2'])
  })

  test('a blank line after a comment is an event, once an id was seen: the server sends none', async () => {
    expect(await parse('event: a\ndata: 1\nid: 1\n\n: ping\n\n', 1_000)).toEqual(['a=1', 'message='])
  })

  test('another content type is no stream', async () => {
    await expect(parse('{}', 1_000, 'application/json')).rejects.toMatchObject({ status: 500 })
  })

  test('characters that end a line for Python stand escaped in the events of the server', async () => {
    const { client, bench } = ready()
    const text = 'one\u2028two\u2029three\u0085four\u000bfive\u001csix\r\nseven'
    bench.provider.enqueue({ deltas: [text] })
    const deltas: unknown[] = []
    const result = await client.prompts.run('greet', {
      parameters: { name: text },
      on_event: ({ textDelta }) => void (textDelta !== undefined && deltas.push(textDelta)),
    })
    expect(deltas.join('')).toBe(text)
    expect(result).toMatchObject({ response: { text } })
    const attached = await client.runs.attach(result?.uuid ?? '')
    expect(attached).toMatchObject({ response: { text } })
  })
}
