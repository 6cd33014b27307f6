/** Ended runs that were evicted from memory return the same result from their rows. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { count, timeFor } from '../support/counts.ts'
import { type RunBench, runBench, textOf } from './run-bench.ts'
import { kindPrompts, runKinds, tokensOf } from './run-kinds.ts'

let bench: RunBench
beforeAll(async () => {
  // With room for one large answer, the others wait for the end of its run.
  const environment = { STET_ENDED_RUN_BYTES: '120000', STET_UNREAD_BYTES: '2097152' }
  bench = await runBench(kindPrompts, environment)
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

const rounds = count(1, 53)

it(
  'every kind of run stores its facts and one figure, and estimates the tokens of a text that was cut short',
  async () => {
    const known = Object.entries(runKinds(bench))
    for (let each = 0; each < rounds * known.length; each += 1) {
      const [name, { replies = [], play, row, partialText }] = known[each % known.length] as (typeof known)[number]
      bench.fake.enqueue(...replies)
      const uuid = await play()
      const [run] = (await rowsOf('run', uuid)).sort((one, other) => Number(other['epoch']) - Number(one['epoch']))
      expect(run, name).toMatchObject({ api_key_id: expect.any(Number), author_id: expect.any(Number), ...row })
      const [createdAt, startedAt, endedAt] = ['created_at', 'started_at', 'ended_at'].map((column) =>
        Date.parse(String(run?.[column])),
      )
      expect(createdAt, name).toBeLessThanOrEqual(startedAt ?? 0)
      expect(startedAt, name).toBeLessThanOrEqual(endedAt ?? 0)
      if (partialText !== undefined) {
        expect(run, name).toMatchObject({ usage_estimated: true, input_tokens: 5 })
        const tokens = tokensOf(partialText)
        expect(Number(run?.['output_tokens']), name).toBeGreaterThanOrEqual(0.8 * tokens)
        expect(Number(run?.['output_tokens']), name).toBeLessThanOrEqual(1.2 * tokens)
        expect(Number(run?.['cost_nano']), name).toBeGreaterThan(0)
        expect(spansOf(run), name).toMatchObject([
          { kind: 'step', status: run?.['status'] === 'stopped' ? 'stopped' : 'error' },
          { kind: 'model', usage: { outputTokens: run?.['output_tokens'] } },
        ])
      }
      const figures = await rowsOf('run_figure', uuid)
      const figure = figures.find((one) => one['run_uuid'] === run?.['uuid'])
      expect(figures, name).toHaveLength((await rowsOf('run', uuid)).length)
      for (const column of copied) expect([name, column, figure?.[column]]).toEqual([name, column, run?.[column]])
    }
  },
  timeFor(rounds * 19, 2_000),
)

/** The columns of a figure that are those of its run. */
const copied = [
  ...['project_id', 'document_uuid', 'version_uuid', 'model', 'via', 'status', 'first_token_ms'],
  ...['input_tokens', 'output_tokens', 'cached_tokens', 'cost_nano', 'usage_estimated'],
]

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
