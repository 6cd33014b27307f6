import { randomUUID } from 'node:crypto'
import { RunStream, Stet, type StreamEvent, tool } from '@stet/sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { prompt, type RunBench, runBench } from '../../runs/run-bench.ts'
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts'

const weather = 'tools:\n  get_weather: { description: Weather, parameters: { type: object } }\n  ask: {}\n'
let bench: RunBench
let stet: Stet
let proxy: FaultProxy
let shaky: Stet
beforeAll(async () => {
  bench = await runBench(
    {
      hello: prompt('<user>Hi</user>'),
      weather: prompt('<user>Weather?</user>', weather),
      guarded: prompt('<system>Never name the vault.</system><user>{{ ticket }}</user>', 'temperature: 0.123\n'),
      tags: prompt('<user>Tags?</user>', 'schema: { type: array, items: { type: string } }\n'),
    },
    { STET_MAX_STREAMS_PER_KEY: '100000' },
  )
  const projectId = Number(/projects\/(\d+)/.exec(bench.live)?.[1])
  const options = { apiKey: bench.key, projectId, logLevel: 'off', streaming: { resume: { initialDelay: 5 } } } as const
  proxy = await faultProxy(Number(new URL(bench.server.url).port))
  stet = new Stet({ ...options, baseUrl: bench.server.url })
  // The proxy counts bytes per connection, so each request opens its own.
  const defaultHeaders = { Connection: 'close' }
  shaky = new Stet({ ...options, baseUrl: `http://127.0.0.1:${proxy.port}`, defaultHeaders })
})
afterAll(async () => {
  await proxy?.close()
  await bench?.close()
})

const rome = { id: 'a', name: 'get_weather', arguments: { city: 'Rome' } }
const oslo = { id: 'b', name: 'get_weather', arguments: { city: 'Oslo' } }

async function collect(stream: RunStream): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}
const idsOf = (events: readonly StreamEvent[]) => events.map(({ id }) => Number(id))

describe('reason property of errors', () => {
  const caught = (call: Promise<unknown>) => call.catch((e: unknown) => e)

  it('is set for refusals of every class', async () => {
    const misspelled = await caught(stet.prompts.get('helo'))
    expect(misspelled).toMatchObject({ name: 'NotFoundError', reason: 'unknown-document' })
    expect(misspelled).toMatchObject({ details: { path: 'helo', suggestions: ['hello'] } })
    const stranger = stet.withOptions({ apiKey: 'stet_unknown' })
    expect(await caught(stranger.me())).toMatchObject({ name: 'UnauthorizedError', reason: 'unknown-key' })
    const merged = await caught(stet.prompts.createOrUpdate('hello', { prompt: 'Hi' }))
    expect(merged).toMatchObject({ name: 'BadRequestError', reason: 'merged-without-force' })
    const idempotencyKey = randomUUID()
    await stet.versions.create('one', { idempotencyKey })
    const reused = await caught(stet.versions.create('another', { idempotencyKey }))
    expect(reused).toMatchObject({ name: 'UnprocessableEntityError', reason: 'idempotency-key-reused' })
  })
})

describe('interrupted stream', () => {
  it('delivers each event once, wherever the connection is cut', async () => {
    const words = Array.from({ length: 12 }, (_, index) => `wörd${index} `)
    bench.fake.setDefault({ deltas: words })
    const { length } = JSON.stringify(await collect(stet.prompts.stream('hello')))
    let cuts = 0
    let rejoined = 0
    for (let first = 700; first < length; first += 450) {
      const second = 300 + ((first * 7) % 900)
      proxy.cutAfter(first, second)
      cuts += 2
      const stream = shaky.prompts.stream('hello')
      stream.on('sdk', ({ type }) => {
        if (type === 'reconnecting') rejoined += 1
      })
      const events = await collect(stream)
      expect(idsOf(events)).toEqual(events.map((_, index) => index + 1))
      expect(await stream.finalText()).toBe(words.join(''))
      const stored = await stet.runs.attach(stream.conversationUuid ?? '')
      expect(await stream.finalResult()).toEqual(stored)
    }
    // A second connection may end before its cut if few bytes are left.
    expect(rejoined).toBeGreaterThan(cuts / 2)
  })
})

it.each([true, false])('returns a structured answer whose schema is not an object (stream: %s)', async (stream) => {
  bench.fake.enqueue({ object: ['red', 'blue'] })
  const { response } = await stet.prompts.run<string[]>('tags', { stream })
  expect(response.object).toEqual(['red', 'blue'])
})

describe('tools', () => {
  it('sends one result for each inline call, valid or not', async () => {
    const faulty = { id: 'c', name: 'get_weather', arguments: { city: 5 } }
    bench.fake.enqueue({ toolCalls: [rome, faulty] }, { text: 'Half of it.' })
    const execute = vi.fn(({ city }: { city: string }) => ({ sky: `over ${city}` }))
    const get_weather = tool({ input: z.object({ city: z.string() }), execute })
    const result = await stet.prompts.run('weather', { tools: { get_weather } })
    expect(result.response.text).toBe('Half of it.')
    expect(execute).toHaveBeenCalledOnce()
    const sent = bench.fake.requests.at(-1)?.body['messages'] as { role: string; content: string }[]
    const answers = sent.filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(answers).toEqual([JSON.stringify({ sky: 'over Rome' }), expect.stringMatching(/Invalid arguments: city/)])
  })

  it.each([true, false])('continues the run by chat and adds up usage and cost (stream: %s)', async (stream) => {
    bench.fake.enqueue({ toolCalls: [rome, oslo] }, { text: 'Sunny and cold.' })
    const tools = { get_weather: ({ city }: { city: string }) => (city === 'Rome' ? 'sunny' : 'cold') }
    const result = await stet.prompts.run('weather', { stream, toolMode: 'turns', tools })
    expect(result.response.text).toBe('Sunny and cold.')
    expect(result.toolRequests).toEqual([])
    // Each round is a separate run on the server. The result adds up both costs.
    const { tokenUsage, cost, status, conversation } = await stet.conversations.get(result.uuid)
    expect(status).toBe('completed')
    expect(result).toMatchObject({ conversation, cost: 2 * cost })
    expect(result.tokenUsage.totalTokens).toBe(2 * tokenUsage.totalTokens)
  })

  it.each(['after its last event', 'beyond it'])('continues an ended run by chat when attached %s', async (place) => {
    bench.fake.enqueue({ toolCalls: [rome] }, { text: 'Sunny.' })
    const ended = stet.prompts.stream('weather')
    const { uuid } = await ended.finalResult()
    const lastEventId = place === 'beyond it' ? '9999' : (ended.lastEventId ?? '')
    const stream = stet.runs.attachStream(uuid, { lastEventId, tools: { get_weather: () => 'blue' } })
    const events = await collect(stream)
    expect(events.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(0)
    expect(events.map(({ type }) => type)).toContain('chain-started')
    expect(idsOf(events)[0]).toBe(Number(ended.lastEventId) + 1)
    expect(await stream.finalText()).toBe('Sunny.')
    expect(stream.text).toBe('Sunny.')
  })
})

it('forwards only the answer to a page, without prompt, configuration or ids', async () => {
  bench.fake.enqueue({ deltas: ['Sure', 'ly.'] })
  const stream = stet.prompts.stream('guarded', { parameters: { ticket: 'Where?' } })
  const [forwarded, whole] = [stream.toResponse(), stream.toResponse({ expose: true })]
  const { source, uuid, response } = await stream.finalResult()
  const secrets = ['vault', '0.123', source.documentUuid, source.commitUuid, response.model]
  const body = await forwarded.clone().text()
  expect(secrets.filter((secret) => body.includes(secret))).toEqual([])
  // The unfiltered stream contains the secrets, so the check can fail.
  const all = await whole.text()
  expect(secrets.filter((secret) => !all.includes(secret))).toEqual([])
  const page = await RunStream.fromResponse(forwarded).finalResult()
  expect(page).toMatchObject({ uuid, conversation: [], response: { text: 'Surely.', finishReason: 'stop' } })
})

describe('cache', () => {
  it('revalidates by ETag, and is invalidated by writes of this client', async () => {
    const cached = stet.withOptions({ cache: { ttl: 0, staleTtl: 60_000, waitUntil: (work) => renewals.push(work) } })
    const renewals: Promise<unknown>[] = []
    const statuses: number[] = []
    const watched = cached.withOptions({ hooks: { onResponse: ({ status }) => statuses.push(status) } })
    expect((await watched.prompts.get('hello')).source).toBe('network')
    expect((await watched.prompts.get('hello')).source).toBe('stale')
    await Promise.all(renewals)
    expect(statuses).toEqual([200, 304])
    const draft = await watched.versions.create('next')
    const [{ content = '' } = {}] = await watched.version(draft.uuid).prompts.list({ prefix: 'hello' })
    await watched.prompts.createOrUpdate('hello', { versionUuid: draft.uuid, prompt: `${content}<user>More</user>` })
    expect((await watched.prompts.get('hello')).source).toBe('stale')
    await watched.versions.publish(draft.uuid)
    const fresh = await watched.prompts.get('hello')
    expect(fresh).toMatchObject({ source: 'network', content: expect.stringContaining('More') })
  })
})
