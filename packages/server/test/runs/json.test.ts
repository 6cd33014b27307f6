import { isDeepStrictEqual } from 'node:util'
import type { Message } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRun } from '../../src/features/runs/start-run.ts'
import {
  assistantMessage,
  caller,
  prompt,
  type RunBench,
  runBench,
  systemMessage,
  textOf,
  userMessage,
} from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    hello: prompt('You are terse.\n<user>Say hello to {{ name }}.</user>'),
    plain: prompt('Be helpful.'),
    list: prompt('<user>List</user>', 'schema: { type: array }\n'),
    object: prompt('<user>Triage</user>', 'schema: { type: object, properties: { level: { type: string } } }\n'),
    settings: prompt('<user>Hi</user>', 'temperature: 0.3\nmax_tokens: 50\nlogit_bias: { "1": 2 }\n'),
  })
})
afterAll(() => bench.close())

it('returns the whole result in one body without streaming', async () => {
  bench.fake.enqueue({ text: 'Hello Ada' })
  const traced = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  const { status, headers, body } = await bench.run('hello', { parameters: { name: 'Ada' } }, traced)
  expect(status).toBe(200)
  expect(headers.get('x-conversation-uuid')).toBe(body['uuid'])
  const conversation = [
    systemMessage('You are terse.'),
    userMessage('Say hello to Ada.'),
    assistantMessage('Hello Ada'),
  ]
  expect(body).toEqual({
    uuid: expect.any(String),
    conversation,
    response: expect.objectContaining({
      streamType: 'text',
      text: 'Hello Ada',
      provider: 'openai',
      model: 'gpt-4o',
      documentLogUuid: body['uuid'],
      input: conversation.slice(0, 2),
      output: conversation.slice(2),
    }),
    toolRequests: [],
    source: { documentUuid: expect.any(String), commitUuid: expect.any(String) },
    tokenUsage: expect.objectContaining({ totalTokens: 20 }),
    cost: 0.00011,
  })
  expect(bench.fake.requests.at(-1)?.body['stream']).not.toBe(true)
  // Traces continue only with an endpoint for them.
  expect(bench.fake.requests.at(-1)?.headers['traceparent']).toBeUndefined()
})

it('returns a large result in pieces with an unchanged body, for attach as well', async () => {
  const text = 'Größe: "\u{1f600}"\n'.repeat(40_000)
  bench.fake.enqueue({ text })
  const { status, headers, body } = await bench.run('hello', { parameters: { name: 'Ada' } })
  expect({ status, type: headers.get('content-type'), length: headers.get('content-length') }).toEqual({
    status: 200,
    type: 'application/json; charset=utf-8',
    length: null,
  })
  expect(headers.get('x-conversation-uuid')).toBe(body['uuid'])
  const kept = await bench.conversation(body['uuid'])
  expect(isDeepStrictEqual(body['conversation'], kept['conversation'])).toBe(true)
  const attached = (await bench.attach(String(body['uuid']))).body
  for (const { response } of [body, attached] as { response: Record<string, unknown> }[]) {
    expect(response['text'] === text).toBe(true)
    expect(response['usage']).toEqual(body['tokenUsage'])
  }
  const stream = await bench.streamAttach(String(body['uuid']))
  expect(stream.last).toMatchObject({ type: 'chain-completed' })
  expect(textOf(stream) === text).toBe(true)
  expect(isDeepStrictEqual(stream.last['messages'], body['conversation'])).toBe(true)
})

it('returns a large, deeply nested result completely', async () => {
  const levels = 3_000
  bench.fake.enqueue({ text: `${'['.repeat(levels)}"${'x'.repeat(1_100_000)}"${']'.repeat(levels)}` })
  const { status, body } = await bench.run('list')
  expect({ status, response: body['response'] }).toMatchObject({ status: 200, response: { streamType: 'object' } })
})

it('can be read as soon as the run has ended, with the same result from the database', async () => {
  const { body } = await bench.run('hello', { parameters: { name: 'Ada' }, customIdentifier: 'order-7' })
  const read = await bench.conversation(body['uuid'])
  expect(read).toMatchObject({
    conversation: body['conversation'],
    status: 'completed',
    error: null,
    toolRequests: [],
    path: 'hello',
    customIdentifier: 'order-7',
    origin: 'run',
    tokenUsage: body['tokenUsage'],
    cost: body['cost'],
    endedAt: expect.any(String),
  })
  bench.server.deps.runs.active.forget(String(body['uuid']))
  expect(await bench.conversation(body['uuid'])).toEqual(read)
})

it("appends the caller's messages, and a user message that the prompt does not use", async () => {
  const { body } = await bench.run('plain', { userMessage: 'Hi', messages: [{ role: 'user', content: 'And hello' }] })
  expect((body['conversation'] as unknown[]).slice(0, 3)).toEqual([
    systemMessage('Be helpful.'),
    userMessage('Hi'),
    userMessage('And hello'),
  ])
})

it('stores model output that PostgreSQL cannot store with replacement characters', async () => {
  bench.fake.enqueue({ text: 'nul \u0000 and half \ud83d' })
  const { status, body } = await bench.run('plain', { userMessage: 'Hi' })
  expect(status).toBe(200)
  bench.server.deps.runs.active.forget(String(body['uuid']))
  const read = await bench.conversation(body['uuid'])
  expect((read['conversation'] as unknown[]).at(-1)).toEqual(assistantMessage('nul \ufffd and half \ufffd'))
})

it.each([
  ['an object', 'object', { text: '{"a\\u0000":"\\uD83D","pair":"\\uD83D\\uDE00"}' }],
  ['a response that is not JSON', 'object', { text: `${'x'.repeat(1_999)}\u{1F600}` }],
  ['a call of an unknown tool', 'plain', { toolCalls: [{ id: 'a', name: 'a\u0000b', arguments: {} }] }],
  ['a failure', 'plain', { status: 400, body: { error: { message: `\u0000${'x'.repeat(1_998)}\u{1F600}` } } }],
])('%s is returned identically from memory and from the database', async (_, path, reply) => {
  bench.fake.enqueue(reply)
  const { body } = await bench.run(path)
  const uuid = String(body['uuid'] ?? body.details?.['conversationUuid'])
  const conversation = await bench.conversation(uuid)
  bench.server.deps.runs.active.forget(uuid)
  expect(await bench.conversation(uuid)).toEqual(conversation)
  // Attach returns the same keys and more.
  expect((await bench.attach(uuid)).body).toMatchObject(body)
})

it('a warm run awaits no statement before its provider call, unless a write happened in between', async () => {
  const { deps, database } = bench.server
  const [, projectId] = /projects\/(\d+)/.exec(bench.live) ?? []
  const statementsBeforeCall = async () => {
    const calls = bench.fake.requests.length
    const called = bench.fake.waitForRequest(calls + 1)
    const before = database.statementCount()
    let atCall = 0
    // Blocks the row until the provider has been called. A run that waited for the row would hang.
    const held = async (...rows: Parameters<typeof deps.runs.store.create>) => {
      await called
      atCall = database.statementCount() - before
      return deps.runs.store.create(...rows)
    }
    const run = await startRun(
      { ...deps, runs: { ...deps.runs, store: { ...deps.runs.store, isStorageInDoubt: () => false, create: held } } },
      { ...noMore, caller, projectId: Number(projectId), versionRef: 'live', path: 'hello', parameters: { name: 'A' } },
    )
    await run.result()
    return atCall
  }
  await statementsBeforeCall()
  expect(await statementsBeforeCall()).toBe(0)
  const changed = { path: 'settings', prompt: prompt('<user>Changed</user>'), force: true }
  await bench.api('POST', `${bench.live}/documents/create-or-update`, { body: changed })
  expect(await statementsBeforeCall()).toBeGreaterThan(0)
})

const noMore = { messages: [] as Message[], mode: 'json' } as const
it('names the conversation in a failure if there is one', async () => {
  const { store: runs } = bench.server.deps.runs
  const { create, end } = runs
  const broken = () => Promise.reject(new Error('The database refuses it'))
  const named = async () => {
    bench.fake.enqueue({ text: 'Hello' })
    const { status, headers } = await bench.run('plain')
    expect(status).toBe(500)
    return headers.get('x-conversation-uuid')
  }
  try {
    runs.create = broken
    expect(await named()).toBeNull()
    runs.create = create
    runs.end = broken
    const uuid = await named()
    expect(await bench.conversation(uuid)).toMatchObject({ uuid })
  } finally {
    Object.assign(runs, { create, end })
  }
})
