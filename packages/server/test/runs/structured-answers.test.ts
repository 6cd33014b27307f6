import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FakeReply } from '../support/fake-provider.ts'
import { gate } from '../support/gate.ts'
import { prompt, type RunBench, record, runBench, textOf } from './run-bench.ts'

const schema = 'schema: { type: object, properties: { level: { type: integer } }, required: [level] }\n'
const user = '<user>Rate</user>'
let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    checked: prompt(user, schema),
    unchecked: prompt(user, `${schema}validate: false\n`),
    slow: prompt(user, 'schema: { properties: { level: { pattern: "^(a+)+$" } } }\n'),
    unusable: prompt(`<step schema={{ { "$ref": "#/$defs/none" } }}>${user}</step>`),
    demo: `---\nprovider: demo\nschema: { type: string, pattern: "^x+$" }\n---\n${user}`,
    odd: prompt(user, `${schema}validate: perhaps\n`),
    tools: prompt(user, 'tools:\n  - rate: { description: x }\n'),
    step: prompt(`<step as="rated" schema={{ { type: "object" } }}>${user}</step><user>{{ rated.level }}</user>`),
  })
})
afterAll(() => bench.close())

const text = '{"level":"high"}'
const endless = `{"level":"${'a'.repeat(40)}b"}`
const cases: [string, string, FakeReply, object][] = [
  ['a valid answer', 'checked', { text: '<think>1?</think>{"level":1}' }, { object: { level: 1 } }],
  [
    'an invalid answer',
    'checked',
    { text },
    { issues: [{ path: '/level', message: expect.stringContaining('integer') }], text, finishReason: 'stop' },
  ],
  ['an invalid answer that is not checked', 'unchecked', { text }, { object: { level: 'high' } }],
  ['an answer that was cut off', 'checked', { text: '{"lev', finishReason: 'length' }, { finishReason: 'length' }],
  ['a filtered answer', 'checked', { text: '{', finishReason: 'content_filter' }, { finishReason: 'content-filter' }],
  ['the demo provider', 'demo', { text }, { object: 'demo' }],
]

it.each(cases)('%s', async (_name, path, reply, expected) => {
  bench.fake.enqueue(reply)
  const { status, body } = await bench.run(path)
  bench.fake.clear()
  if ('object' in expected) return expect(body).toMatchObject({ response: expected })
  expect(status).toBe(422)
  expect(body).toMatchObject({ errorCode: 'invalid_response_format_error', details: expected })
})

it('keeps the answer and its cost, and names the first issue', async () => {
  bench.fake.enqueue({ text })
  const run = await bench.stream('checked')
  expect(run.last).toMatchObject({
    type: 'chain-error',
    error: { message: expect.stringMatching(/^The response does not match the schema at \/level: .*integer/) },
    tokenUsage: { totalTokens: 20 },
  })
})

it('keeps an answer that takes too long to check, and names the key that turns the check off', async () => {
  bench.fake.enqueue({ text: endless })
  const message =
    'The response cannot be checked against the schema: The evaluation took too long. `validate: false` turns the check off.'
  const details = { text: endless, finishReason: 'stop' }
  const body = { errorCode: 'invalid_response_format_error', message, details }
  expect(await bench.run('slow')).toMatchObject({ status: 422, body })
})

it('refuses a schema that cannot be applied before the provider is called', async () => {
  const before = bench.fake.requests.length
  expect(await bench.run('unusable')).toMatchObject({
    status: 422,
    body: {
      errorCode: 'chain_compile_error',
      message: expect.stringContaining(
        'The schema cannot be applied: it refers to "#/$defs/none", which it does not contain',
      ),
    },
  })
  expect(bench.fake.requests).toHaveLength(before)
})

it('reads the answer of a step after reasoning', async () => {
  bench.fake.enqueue({ text: '<think>Hm</think>{"level":3}' }, { text: 'done' })
  await bench.run('step')
  expect(bench.fake.requests.at(-1)?.body).toMatchObject({
    messages: expect.arrayContaining([{ role: 'user', content: '3' }]),
  })
})

it('refuses another value of `validate`', async () => {
  expect(await bench.run('odd')).toMatchObject({ status: 422, body: { errorCode: 'document_config_error' } })
})

describe('a failed call', () => {
  it('counts what the provider had counted', async () => {
    const frame = '{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1000,"completion_tokens":10}}'
    bench.fake.enqueue({ raw: [`data: ${frame}\n\n`], end: 'broken' })
    const run = await bench.stream('checked')
    expect(run.last).toMatchObject({ type: 'chain-error', tokenUsage: { inputTokens: 1000, outputTokens: 10 } })
    expect(run.last['cost']).toBeCloseTo(0.0026)
  })

  it('ends with the finish reason length if the answer was cut off inside of a call', async () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'rate', arguments: '{"lev' } }
    const frames = [{ content: 'Wait.' }, { tool_calls: [call] }].map((delta) => ({ choices: [{ delta }] }))
    const end = { choices: [{ delta: {}, finish_reason: 'length' }] }
    bench.fake.enqueue({ raw: [...frames, end].map((each) => `data: ${JSON.stringify(each)}\n\n`) })
    const before = bench.fake.requests.length
    const run = await bench.stream('tools')
    expect(run.last).toMatchObject({ type: 'chain-completed', finishReason: 'length', response: { text: 'Wait.' } })
    expect(bench.fake.requests).toHaveLength(before + 1)
  })
})

// Runs last, because it closes the evaluation of the server.
it('keeps an answer that cannot be checked because the server stops', async () => {
  const end = gate()
  const before = bench.fake.requests.length
  bench.fake.enqueue({ text, gate: end.opened })
  const uuid = await bench.background('checked')
  await bench.fake.waitForRequest(before + 1)
  await bench.server.deps.templates.close()
  end.open()
  const attached = await record(await bench.post(`/conversations/${uuid}/attach`, { stream: true }))
  expect(textOf(attached)).toBe(text)
  expect(attached.last).toMatchObject({
    type: 'chain-error',
    error: { errorCode: 'worker_lost', message: 'The server is stopping' },
    tokenUsage: { totalTokens: 20 },
  })
})
