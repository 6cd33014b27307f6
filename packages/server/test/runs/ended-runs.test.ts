/** Ended runs that were evicted from memory return the same result from their rows. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type RunBench, runBench, textOf } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  // With room for one large answer, the others wait for the end of its run.
  const environment = { STET_ENDED_RUN_BYTES: '120000', STET_UNREAD_BYTES: '2097152' }
  const prompts = {
    plain: prompt('<user>Say it</user>'),
    greet: prompt('Be terse.\n<user>Greet {{ name }}</user>', 'maxRetries: 0\n'),
    asks: prompt('<user>Ask</user>', 'tools: { ask: { description: Asks } }\n'),
  }
  bench = await runBench(prompts, environment)
})
afterAll(() => bench.close())

const statementsOf = async <T>(work: () => Promise<T>) => {
  const before = bench.server.database.statementCount()
  const result = await work()
  return { result, statements: bench.server.database.statementCount() - before }
}

it('returns an evicted run unchanged from its row', async () => {
  const text = 'Größe '.repeat(1_000)
  bench.fake.enqueue({ text })
  const live = await bench.stream('plain')
  expect(textOf(live)).toBe(text)
  const uuid = String(live.last['uuid'])
  const remembered = await statementsOf(() => bench.conversation(uuid))
  expect(remembered.statements).toBe(0)
  const early = await bench.streamAttach(uuid)
  expect(early.text).toBe(live.text)

  for (let other = 0; other < 8; other += 1) {
    bench.fake.enqueue({ text })
    expect(await bench.run('plain')).toMatchObject({ status: 200 })
  }
  const read = await statementsOf(() => bench.conversation(uuid))
  expect(read.statements).toBeGreaterThan(0)
  expect(read.result).toEqual(remembered.result)
  const late = await statementsOf(() => bench.streamAttach(uuid))
  expect(late.statements).toBeGreaterThan(0)
  expect(late.result.text).toBe(live.text)
})

/** Returns whether a large answer would be taken without a wait. */
async function isRoomFree(): Promise<boolean> {
  const { largeAnswers } = bench.server.deps.runs
  const answer = { conversationUuid: 'next', workspaceId: 0, bytes: 2_000_000 }
  const held = largeAnswers.hold(answer, new AbortController().signal).then(() => true)
  const isFree = await Promise.race([held, new Promise<boolean>((resolve) => setImmediate(resolve, false))])
  largeAnswers.release('next')
  return isFree
}

it('stores large responses that end at the same time unchanged, and their conversations can continue', async () => {
  // Texts above one megabyte are stored differently. PostgreSQL cannot store NUL, so it is replaced.
  const text = `${'"Größe"\n'.repeat(150_000)}\u0000`
  const stored = text.replace('\u0000', '\uFFFD')
  const answers = await Promise.all(
    [0, 1, 2].map(() => {
      bench.fake.enqueue({ text })
      return bench.run('plain')
    }),
  )
  expect(await isRoomFree()).toBe(true)
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    const { conversation } = await bench.conversation(body['uuid'])
    expect((conversation as unknown[]).at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: stored }] })
    bench.fake.enqueue({ text: 'More' })
    expect((await bench.chat(body['uuid'], { messages: [{ role: 'user', content: 'And?' }] })).status).toBe(200)
    const after = (await bench.conversation(body['uuid']))['conversation'] as unknown[]
    expect(after.slice(0, -2)).toEqual(conversation)
  }
})

const rowsOf = async (table: 'run' | 'run_figure', uuid: unknown) => {
  const key = table === 'run' ? 'uuid' : 'run_uuid'
  const { rows } = await bench.server.database.session.query(
    `SELECT t.* FROM ${table} t WHERE ${key} IN (SELECT uuid FROM run WHERE conversation_uuid = $1) ORDER BY ${key}`,
    [uuid],
  )
  return rows
}
/** Returns a function that reads until the text contains `mark`, and returns the text. */
const readerOf = (response: Response) => {
  const reader = response.body?.getReader()
  let text = ''
  return async (mark: string) => {
    while (!text.includes(mark)) text += Buffer.from((await reader?.read())?.value ?? []).toString()
    return text
  }
}
const spansOf = (row: Record<string, unknown> | undefined) =>
  (JSON.parse(String(row?.['spans'])) as { spans: Record<string, unknown>[] }).spans

it('a run of each mode keeps its facts in its row, and its end inserts one figure', async () => {
  const started = { api_key_id: expect.any(Number), author_id: expect.any(Number) }
  const messages = [{ role: 'user', content: 'and wave' }]
  const parameters = { z: 1, name: 'Ada' }
  const run = { parameters, messages }
  const [json, sse, background] = [
    (await bench.run('greet', run)).body['uuid'],
    (await bench.stream('greet', run)).last['uuid'],
    await bench.background('greet', run),
  ]
  await bench.attach(String(background))
  for (const [mode, uuid] of Object.entries({ json, sse, background })) {
    const [row] = await rowsOf('run', uuid)
    const shared = { model: 'gpt-4o', input_tokens: 12, output_tokens: 8, cached_tokens: 0, usage_estimated: false }
    const { firstTokenMs } = { firstTokenMs: mode === 'json' ? null : expect.any(Number) }
    expect(row).toMatchObject({
      ...{ ...started, ...shared, mode, parameters_state: 'kept', given_from: 2, given_count: 1 },
      ...{ provider: 'openai', finish_reason: 'stop', first_token_ms: firstTokenMs, status: 'completed' },
    })
    expect(row?.['parameters']).toBe('{"z":1,"name":"Ada"}')
    expect(Number(row?.['cost_nano'])).toBe(110_000)
    expect(new Date(String(row?.['started_at'])).getTime()).toBeGreaterThanOrEqual(
      new Date(String(row?.['created_at'])).getTime(),
    )
    const figures = await rowsOf('run_figure', uuid)
    expect(figures).toEqual([expect.objectContaining({ ...shared, first_token_ms: firstTokenMs, status: 'completed' })])
    const { document_uuid, version_uuid, project_id, via } = row ?? {}
    expect(figures[0]).toMatchObject({ document_uuid, version_uuid, project_id, via })
  }
  await bench.chat(json, { messages: [...messages, ...messages] })
  const [first, chat] = (await rowsOf('run', json)).sort((one, other) => Number(one['epoch']) - Number(other['epoch']))
  expect(chat).toMatchObject({ ...started, parameters: null, parameters_state: 'none', given_from: 4, given_count: 2 })
  expect(chat?.['document_uuid']).toBe(first?.['document_uuid'])
  expect(await rowsOf('run_figure', json)).toHaveLength(2)
})

it('keeps 64 KB of parameters, and none of larger ones or if the server or the project keeps none', async () => {
  const { settings } = bench.server.deps.runs
  const [, projectId] = /(projects\/\d+)/.exec(bench.live) ?? []
  const change = (keepParameters: boolean | null) => bench.api('PUT', `/${projectId}`, { body: { keepParameters } })
  const kept = async (name: string) => {
    const [row] = await rowsOf('run', (await bench.run('greet', { parameters: { name } })).body['uuid'])
    return [row?.['parameters_state'], row?.['parameters'] === JSON.stringify({ name })]
  }
  const name = 'ö'.repeat((65_536 - Buffer.byteLength('{"name":""}') - 1) / 2)
  expect(await kept(`${name}a`)).toEqual(['kept', true])
  expect(await kept(`${name}ab`)).toEqual(['too-large', false])
  expect(await change(false)).toMatchObject({ status: 200, body: { keepParameters: false } })
  expect(await kept('Ada')).toEqual(['off', false])
  settings.keepParameters = false
  await change(true)
  expect(await kept('Ada')).toEqual(['kept', true])
  await change(null)
  expect(await kept('Ada')).toEqual(['off', false])
  settings.keepParameters = true
})

it.each([
  ['stopped', true],
  ['failed', false],
])('estimates the tokens of a streamed answer that was %s', async (_name, isStopped) => {
  const text = 'One two three four five six seven eight nine ten. '.repeat(20)
  bench.fake.enqueue({ deltas: [text, 'more'], ...(isStopped ? { hang: 'mid-stream' } : { cut: 1 }) })
  const response = await bench.open('greet', { parameters: { name: 'Ada' } })
  const uuid = response.headers.get('x-conversation-uuid') ?? ''
  const next = readerOf(response)
  await next('nine ten. "')
  if (isStopped) await bench.stop(uuid)
  await next('chain-error')
  const [row] = await rowsOf('run', uuid)
  expect(row).toMatchObject({ usage_estimated: true, finish_reason: null, input_tokens: 5 })
  expect(row?.['output_tokens']).toBe(250)
  expect(Number(row?.['cost_nano'])).toBeGreaterThan(0)
  expect(await rowsOf('run_figure', uuid)).toMatchObject([
    { usage_estimated: true, output_tokens: row?.['output_tokens'] },
  ])
  expect(spansOf(row)).toMatchObject([
    { kind: 'step', status: isStopped ? 'stopped' : 'error' },
    { kind: 'model', status: isStopped ? 'stopped' : 'error', usage: { outputTokens: row?.['output_tokens'] } },
  ])
})

it.each([
  ['refused', { status: 429 }],
  ['lost before its answer began', { reset: true }],
] as const)('a call that was %s counts nothing', async (_name, reply) => {
  bench.fake.enqueue(reply)
  const { body } = await bench.run('greet', { parameters: { name: 'Ada' } })
  const [row] = await rowsOf('run', body.details?.['conversationUuid'])
  expect(row).toMatchObject({ model: 'gpt-4o', input_tokens: 0, output_tokens: 0, usage_estimated: false })
})

it('keeps the spans of steps, model calls and awaited tool calls with their parents', async () => {
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'ask', arguments: {} }] }, { text: 'Done' })
  const response = await bench.open('asks', { tools: ['ask'] })
  const next = readerOf(response)
  const text = await next('"type":"tool-call"')
  const [, toolCallId] = /"toolCallId":"([^"]+)"/.exec(text) ?? []
  await bench.api('POST', '/tools/results', { body: { toolCallId, result: 'yes' } })
  await next('chain-completed')
  const uuid = response.headers.get('x-conversation-uuid')
  const [row] = await rowsOf('run', uuid)
  const spans = spansOf(row)
  expect(spans).toMatchObject([
    { kind: 'step', name: 'asks', parent: null, status: 'ok' },
    { kind: 'model', name: 'gpt-4o', parent: 0, status: 'ok', cost: 0.00011, usage: { inputTokens: 12 } },
    { kind: 'wait', name: 'ask', parent: 0, status: 'ok' },
    { kind: 'model', name: 'gpt-4o', parent: 0, status: 'ok' },
  ])
  for (const { startMs, endMs } of spans) expect(Number(endMs)).toBeGreaterThanOrEqual(Number(startMs))
})
