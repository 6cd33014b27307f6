/** Runs through `/v1`: answers, streams that are cut and resumed, later reads, and what goes on from an earlier answer. */
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { refuse } from '../../src/shared/app-error.ts'
import { issueKey } from '../http/scenario.ts'
import type { FakeReply } from '../support/fake-provider.ts'
import { gate } from '../support/gate.ts'
import { prompt, type RunBench, sharedBench } from './run-bench.ts'

type Body = Record<string, unknown>

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  strict: false,
  parameters: { type: 'object', properties: { location: { type: 'string' } } },
}
const chatWeather = { type: 'function' as const, function: { name: 'get_weather', parameters: weather.parameters } }
const calls = (id: string): FakeReply => ({
  text: 'I look.',
  toolCalls: [{ id, name: 'get_weather', arguments: { location: 'SF' } }],
})

let bench: RunBench
let key: string
let client: OpenAI

beforeAll(async () => {
  const once = 'maxRetries: 0\n'
  bench = await sharedBench({
    plain: prompt('<user>Hi {{ name }}</user>', once),
    empty: prompt('<system>Be brief.</system>', once),
    warm: prompt('<user>Hi</user>', 'temperature: 0.2\nmax_tokens: 100\nschema: { type: object }\n'),
    stepped: prompt('<step><user>One</user></step><step><user>Two</user></step>', once),
  })
  const projectId = Number(/projects\/(\d+)/.exec(bench.live)?.[1])
  key = await issueKey(bench.api, { scopes: ['read', 'run'], plan: 'custom', limit: 100_000, projectId })
  client = new OpenAI({ baseURL: `${bench.server.url}/v1`, apiKey: key, maxRetries: 0 })
})
afterAll(() => bench.close())
beforeEach(() => {
  bench.fake.clear()
  bench.fake.setDefault({ text: 'Hello there.' })
})

async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${bench.server.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = (await response.text()).replace(/^: ping\n/gm, '')
  return { status: response.status, headers: response.headers, text }
}

const json = async (...request: Parameters<typeof send>) => JSON.parse((await send(...request)).text) as Body

/** The data of a stream's frames, without `[DONE]`. */
const eventsIn = (text: string): Body[] =>
  [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => (data === '[DONE]' ? [] : [JSON.parse(data) as Body]))
const typesIn = (text: string) => eventsIn(text).map(({ type }) => String(type).replace('response.', ''))
const sent = () => (bench.fake.requests.at(-1)?.body['messages'] ?? []) as { role: string; content: unknown }[]

const dropEvents = () => bench.server.deps.runs.store.dropEventLogs(new Date(0), new Date(Date.now() + 60_000))

describe('Chat Completions', () => {
  it('answer with text, calls and usage', async () => {
    const answer = await json('POST', '/chat/completions', { model: 'plain', parameters: { name: 'Ana' } })
    expect(sent()).toEqual([{ role: 'user', content: 'Hi Ana' }])
    const id = expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/)
    expect(answer).toMatchObject({ id, object: 'chat.completion', model: 'plain', usage: { total_tokens: 20 } })
    expect(answer).toMatchObject({ stet: { version: 1, promptPath: 'plain', model: 'gpt-4o' } })
    const message = { role: 'assistant', content: 'Hello there.', refusal: null, annotations: [] }
    expect(answer['choices']).toEqual([{ index: 0, message, logprobs: null, finish_reason: 'stop' }])
    bench.fake.enqueue({ ...calls('a'), text: '' })
    const asked = await client.chat.completions.create({ model: 'plain', messages: [], tools: [chatWeather] })
    expect(asked.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
  })

  it('stream the same, and say the usage only if they are asked for it', async () => {
    const { text } = await send('POST', '/chat/completions', { model: 'plain', stream: true })
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(text).not.toMatch(/^(id|event):/m)
    const chunks = eventsIn(text)
    expect(chunks[0]).toMatchObject({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ delta: {}, finish_reason: 'stop' }],
      stet: { promptPath: 'plain' },
    })
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
    const options = { stream: true, stream_options: { include_usage: true } }
    const counted = eventsIn((await send('POST', '/chat/completions', { model: 'plain', ...options })).text)
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 8 } })
    expect(counted.slice(0, -1).every(({ usage }) => usage === null)).toBe(true)
  })

  it('go through the helpers of the client, with a loop of tools', async () => {
    bench.fake.enqueue(calls('a'), { text: 'It is 21 C.' })
    const runner = client.chat.completions.runTools({
      model: 'plain',
      messages: [],
      tools: [
        {
          type: 'function',
          function: { ...chatWeather.function, description: 'Weather', function: (_args: string) => '21 C' },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('It is 21 C.')
    expect(sent().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    const stream = client.chat.completions.stream({ model: 'plain', messages: [] })
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('Hello there.')
  })

  it('fail with 422 before the stream, and with an error in it', async () => {
    const failure = { status: 400, body: { error: { message: 'No' } } }
    bench.fake.enqueue(failure, failure)
    const plain = await send('POST', '/chat/completions', { model: 'plain' })
    expect(plain.status).toBe(422)
    expect(plain.headers.get('x-conversation-uuid')).not.toBeNull()
    const { error } = JSON.parse(plain.text) as { error: Body }
    expect(error).toMatchObject({ type: 'invalid_request_error', param: '', code: 'ai_run_error' })
    const { text } = await send('POST', '/chat/completions', { model: 'plain', stream: true })
    expect(eventsIn(text).at(-1)).toMatchObject({ error: { type: 'server_error', param: '', code: 'ai_run_error' } })
    expect(text).not.toContain('[DONE]')
  })

  it('stop at once when the caller leaves', async () => {
    bench.fake.enqueue({ text: 'A B C', gate: new Promise(() => undefined) })
    const { aborted, requests } = bench.fake
    const asked = bench.fake.waitForRequest(requests.length + 1)
    const leaving = new AbortController()
    const response = await fetch(`${bench.server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'plain', stream: true }),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    await asked
    leaving.abort()
    await bench.fake.waitForAbort(aborted + 1)
  })
})

describe('Responses', () => {
  it('stream items with their parts, in order, and end with the whole response', async () => {
    bench.fake.enqueue({ reasoning: 'First.', ...calls('a') })
    const { text, headers } = await send('POST', '/responses', { model: 'plain', stream: true, tools: [weather] })
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(eventsIn(text).map(({ sequence_number }) => sequence_number)).toEqual(
      eventsIn(text).map((_, index) => index),
    )
    const types = typesIn(text).filter((type, index, all) => type !== all[index - 1])
    const start = ['created', 'in_progress']
    const thought = ['reasoning_summary_part.added', 'reasoning_summary_text.delta', 'reasoning_summary_text.done']
    const written = ['content_part.added', 'output_text.delta']
    const called = ['function_call_arguments.delta', 'function_call_arguments.done']
    const each = [...start, ...thought, 'reasoning_summary_part.done', ...written, 'output_text.done']
    expect(types).toEqual(expect.arrayContaining([...each, 'content_part.done', ...called, 'completed']))
    for (const [before, after] of [
      ['created', 'in_progress'],
      ['reasoning_summary_text.done', 'content_part.added'],
      ['output_text.delta', 'function_call_arguments.delta'],
    ])
      expect(types.indexOf(String(before))).toBeLessThan(types.indexOf(String(after)))
    expect(types.at(-1)).toBe('completed')
    const last = eventsIn(text).at(-1)?.['response'] as { output: Body[] }
    expect(last.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
    expect(text).not.toMatch(/^id:/m)
  })

  const replies: Record<string, { reply: FakeReply; request?: Body; path?: string }> = {
    text: { reply: { text: 'One two three.' } },
    reasoning: { reply: { reasoning: 'First. Then.', text: 'Done.' } },
    call: { reply: calls('a'), request: { tools: [weather] } },
    length: { reply: { text: 'One two', finishReason: 'length' } },
    failed: { reply: { text: 'One two three four', cut: 2 } },
    steps: { reply: { text: 'A step.' }, path: 'stepped' },
  }
  it.each(Object.entries(replies))(
    'can be cut after each event and read later, with equal bytes: %s',
    async (_name, one) => {
      bench.fake.setDefault(one.reply)
      const { text } = await send('POST', '/responses', { model: one.path ?? 'plain', stream: true, ...one.request })
      const events = eventsIn(text)
      const response = /"response":(\{.*\})\}$/m.exec(text.trimEnd().split('\n').at(-3) ?? '')?.[1]
      const id = String(Object(events[0]?.['response'])['id'])
      const frames = text.split('\n\n').filter((frame) => frame !== '')
      for (let after = 0; after < events.length; after += 1) {
        const rest = await send('GET', `/responses/${id}?stream=true&starting_after=${after}`)
        expect(rest.text).toBe(
          frames
            .slice(after + 1)
            .map((frame) => `${frame}\n\n`)
            .join(''),
        )
      }
      expect((await send('GET', `/responses/${id}`)).text).toBe(response)
      await dropEvents()
      expect((await send('GET', `/responses/${id}`)).text).toBe(response)
      // A server keeps the events of a run that has just ended in memory.
      const expired = await send('GET', `/responses/${id}?stream=true`)
      expect([200, 400]).toContain(expired.status)
    },
  )

  it('run in the background, are polled and canceled, and stay canceled', async () => {
    const { opened, open } = gate()
    bench.fake.enqueue({ text: 'A B C', gate: opened })
    const queued = await client.responses.create({ model: 'plain', background: true })
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [] })
    expect(['queued', 'in_progress']).toContain((await client.responses.retrieve(queued.id)).status)
    const canceled = await client.responses.cancel(queued.id)
    expect(canceled).toMatchObject({ status: 'cancelled', incomplete_details: { reason: 'cancelled' } })
    open()
    expect(await client.responses.cancel(queued.id)).toEqual(canceled)
    const { text } = await send('GET', `/responses/${queued.id}?stream=true`)
    expect(typesIn(text).slice(0, 2)).toEqual(['created', 'queued'])
    expect(typesIn(text).at(-1)).toBe('incomplete')
    const done = await client.responses.create({ model: 'plain', background: true, stream: true })
    const types: string[] = []
    for await (const event of done) types.push(event.type)
    expect(types.at(-1)).toBe('response.completed')
  })

  it('go on when the caller of a stream leaves', async () => {
    const { opened, open } = gate()
    bench.fake.enqueue({ text: 'A B C', gate: opened })
    const stream = await client.responses.create({ model: 'plain', stream: true })
    let id = ''
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') break
    }
    open()
    await expect.poll(async () => (await client.responses.retrieve(id)).output_text).toBe('A B C')
  })

  it('answer a failed run with 422 at once, and with its state later', async () => {
    bench.fake.setDefault({ status: 400, body: { error: { message: 'No' } } })
    const failed = await send('POST', '/responses', { model: 'plain' })
    expect(failed.status).toBe(422)
    const queued = await client.responses.create({ model: 'plain', background: true })
    await expect.poll(async () => (await client.responses.retrieve(queued.id)).status).toBe('failed')
    const { error } = await client.responses.retrieve(queued.id)
    expect(error).toMatchObject({ code: 'ai_run_error' })
  })

  it('answer a repeated request with the same run', async () => {
    const headers = { 'idempotency-key': `door-${Date.now()}` }
    const count = bench.fake.requests.length
    for (const stream of [false, true]) {
      const request = { model: 'plain', stream }
      const key = { 'idempotency-key': `${headers['idempotency-key']}-${stream}` }
      const first = await send('POST', '/responses', request, key)
      const again = await send('POST', '/responses', request, key)
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect(again.text).toBe(first.text)
    }
    expect(bench.fake.requests).toHaveLength(count + 2)
    const other = { ...headers, 'x-stet-parameters': '{"name":"Ana"}' }
    expect((await send('POST', '/responses', { model: 'plain' }, other)).status).toBe(200)
    const changed = { ...headers, 'x-stet-parameters': '{"name":"Bea"}' }
    const refused = await send('POST', '/responses', { model: 'plain' }, changed)
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'idempotency-key-reused' } })
  })
})

it.each([false, true])('refuses retries of a failure after the work began: background %s', async (background) => {
  const { store } = bench.server.deps.runs
  const { findRun } = store
  // An answer as large as this is read from the database, which is away by then.
  store.findRun = () => Promise.reject(refuse('database-unavailable'))
  onTestFinished(() => {
    store.findRun = findRun
  })
  const large = 'x'.repeat(150_000)
  bench.fake.enqueue({ text: large })
  const request = { model: 'plain', input: background ? large : 'Hi', background }
  const asked = bench.fake.requests.length
  const { status, headers, text } = await send('POST', '/responses', request)
  await bench.fake.waitForRequest(asked + 1)
  expect([status, Object(JSON.parse(text)).error.code]).toEqual([503, 'database-unavailable'])
  expect(headers.get('x-should-retry')).toBe('false')
  // A request that started nothing may be repeated.
  const previous = { ...request, previous_response_id: `resp_${'0'.repeat(32)}` }
  const early = await send('POST', '/responses', previous)
  expect([early.status, early.headers.get('x-should-retry')]).toEqual([503, null])
})

it('keeps a call that was shown just before a stop, also for its result', async () => {
  const { toolCalls, signals, active } = bench.server.deps.runs
  const { issue } = toolCalls
  toolCalls.issue = async (rows) => {
    await issue(rows)
    // The call is shown next. The model's answer then fails, although it is complete.
    for (const { runUuid } of active.list()) signals.stop(runUuid)
  }
  onTestFinished(() => {
    toolCalls.issue = issue
  })
  bench.fake.enqueue(calls('a'))
  const { text } = await send('POST', '/responses', { model: 'plain', stream: true, tools: [weather] })
  const shown = eventsIn(text).at(-1)?.['response'] as { id: string; status: string; output: Body[] }
  expect(shown.status).toBe('cancelled')
  expect(shown.output.map(({ type }) => type)).toEqual(['message', 'function_call'])
  expect(await json('GET', `/responses/${shown.id}`)).toEqual(shown)
  const result = { type: 'function_call_output', call_id: shown.output[1]?.['call_id'], output: '21 C' }
  const next = await send('POST', '/responses', { model: 'plain', previous_response_id: shown.id, input: [result] })
  expect(next.status).toBe(200)
  expect(sent().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
})

it('answers a repeated request with its run after the prompt is gone', async () => {
  const draft = async (name: string) => {
    const { body } = await bench.api('POST', bench.live.replace('/live', ''), { body: { name } })
    return `${bench.live.replace('/live', '')}/${String(body['uuid'])}`
  }
  const publish = async (version: string, path: string, content?: string) => {
    const changes = content === undefined ? [{ path, status: 'deleted' }] : [{ path, status: 'added', content }]
    expect(await bench.api('POST', `${version}/push`, { body: { changes } })).toMatchObject({ status: 200 })
    expect(await bench.api('POST', `${version}/publish`, { body: {} })).toMatchObject({ status: 200 })
  }
  await publish(await draft('adds'), 'brief', prompt('<user>Hi</user>'))
  const requests = [{ stream: false }, { stream: true }, { background: true }].map((more) => ({
    model: 'brief',
    ...more,
  }))
  const answers = () =>
    Promise.all(requests.map((request, at) => send('POST', '/responses', request, { 'idempotency-key': `gone-${at}` })))
  const first = await answers()
  await publish(await draft('removes'), 'brief')
  const again = await answers()
  expect(again.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text))
  const other = await send('POST', '/responses', { model: 'brief' }, { 'idempotency-key': 'gone-other' })
  expect([other.status, Object(JSON.parse(other.text)).error.code]).toEqual([404, 'model_not_found'])
})

describe('what goes on', () => {
  it('continues the latest response, and forks from an earlier one', async () => {
    const one = await client.responses.create({ model: 'plain', input: 'one' })
    const two = await client.responses.create({ model: 'plain', input: 'two', previous_response_id: one.id })
    expect(two.conversation).toEqual(one.conversation)
    const texts = () => sent().map(({ content }) => content)
    expect(texts()).toEqual(['Hi', 'one', 'Hello there.', 'two'])
    const fork = await client.responses.create({ model: 'plain', input: 'other', previous_response_id: one.id })
    expect(fork.conversation?.id).not.toBe(one.conversation?.id)
    expect(texts()).toEqual(['Hi', 'one', 'Hello there.', 'other'])
    const conversation = String(two.conversation?.id)
    await client.responses.create({ model: 'plain', input: 'three', conversation })
    expect(texts()).toEqual(['Hi', 'one', 'Hello there.', 'two', 'Hello there.', 'three'])
  })

  it('refuses another prompt, both kinds at once, and an active run', async () => {
    const one = await client.responses.create({ model: 'plain' })
    const goOn = (more: object) =>
      send('POST', '/responses', { previous_response_id: one.id, model: 'plain', input: 'a', ...more })
    expect(JSON.parse((await goOn({ model: 'empty' })).text)).toMatchObject({ error: { code: 'model_mismatch' } })
    expect((await goOn({ conversation: one.conversation?.id })).status).toBe(400)
    const { opened, open } = gate()
    bench.fake.enqueue({ text: 'A B', gate: opened })
    const active = await client.responses.create({
      ...{ model: 'plain', input: 'a', background: true },
      previous_response_id: one.id,
    })
    const busy = await goOn({ previous_response_id: active.id })
    expect(busy.status).toBe(409)
    expect(busy.headers.get('retry-after')).toBe('1')
    open()
    const silent = await goOn({ input: [] })
    expect(silent.status).toBe(400)
    expect(JSON.parse(silent.text)).toMatchObject({ error: { param: 'input', code: 'invalid_value' } })
    const warned = await goOn({ input: 'More', parameters: { name: 'Ana' } })
    expect(warned.headers.get('x-stet-warning')).toBe('ignored: parameters (the prompt was rendered before)')
  })

  it('resolves items of earlier responses, by their place in the output', async () => {
    bench.fake.enqueue({ reasoning: 'First.', ...calls('a') })
    const asked = await client.responses.create({ model: 'plain', tools: [weather] })
    const [thought, message, call] = asked.output
    if (call?.type !== 'function_call') throw new Error('There is no call')
    await json('POST', '/responses', {
      model: 'empty',
      input: [
        { role: 'user', content: 'weather?' },
        ...[thought, message, call].map((item) => ({ type: 'item_reference', id: item?.id })),
        { type: 'function_call_output', call_id: call.call_id, output: '21 C' },
      ],
    })
    expect(sent()).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'weather?' },
      { role: 'assistant', content: 'I look.' },
      { role: 'assistant', tool_calls: [{ id: expect.any(String), function: { name: 'get_weather' } }] },
      { role: 'tool', content: '21 C' },
    ])
    // Few bytes of a request can name many megabytes.
    bench.fake.enqueue({ text: 'x'.repeat(1_000_000) })
    const { output: large } = await client.responses.create({ model: 'plain' })
    const input = Array.from({ length: 12 }, () => ({ type: 'item_reference', id: large[0]?.id }))
    const count = bench.fake.requests.length
    const tooLarge = await send('POST', '/responses', { model: 'empty', input })
    expect([tooLarge.status, Object(JSON.parse(tooLarge.text)).error.code]).toEqual([413, 'body-too-large'])
    expect(bench.fake.requests).toHaveLength(count)
    const unknown = { type: 'item_reference', id: `${message?.id}9` }
    const refused = await send('POST', '/responses', { model: 'empty', input: [unknown] })
    expect(refused.status).toBe(404)
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'item_not_found', param: 'input[0].id' } })
  })
})

it('sends settings of the caller where the prompt is silent, and warns about the others', async () => {
  const settings = { temperature: 0.9, top_p: 0.5, max_output_tokens: 40, seed: 7, parallel_tool_calls: false }
  const silent = await send('POST', '/responses', {
    model: 'plain',
    tools: [weather],
    tool_choice: 'required',
    ...settings,
  })
  const body = bench.fake.requests.at(-1)?.body
  expect(body).toMatchObject({ temperature: 0.9, top_p: 0.5, max_tokens: 40, seed: 7, parallel_tool_calls: false })
  expect(body).toMatchObject({ tool_choice: 'required', tools: [{ function: { name: 'get_weather' } }] })
  expect(silent.headers.get('x-stet-warning')).toBeNull()
  bench.fake.enqueue({ text: '{}' })
  const warned = await send('POST', '/responses', {
    model: 'warm',
    temperature: 0.9,
    text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
  })
  expect(warned.headers.get('x-stet-warning')).toMatch(/^ignored: temperature, \w+/)
  expect(bench.fake.requests.at(-1)?.body).toMatchObject({ temperature: 0.2 })
  expect(JSON.parse(warned.text)).toMatchObject({ store: true, text: { format: { name: 'a' } } })
})
