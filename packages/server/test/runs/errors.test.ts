import { afterAll, beforeAll, expect, it } from 'vitest'
import { assistantMessage, prompt, type RunBench, runBench, userMessage } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  const user = '<user>Hi</user>'
  bench = await runBench({
    plain: prompt(user, 'maxRetries: 0\n'),
    object: prompt(user, 'schema: { type: object }\nmaxRetries: 0\n'),
    looping: prompt(user, 'maxSteps: 2\ntools:\n  - known: { description: x }\n'),
    'no-provider': '---\nprovider: nobody\nmodel: m\n---\n<user>Hi</user>',
    'bad-config': prompt(user, 'temperature: hot\n'),
    builtin: prompt(user, 'tools: [latitude/search]\n'),
    empty: prompt(''),
    late: prompt('<step><user>One</user></step>\n<step model={{ 1 }}><user>Two</user></step>'),
    'no-model': '---\nprovider: openai\n---\n<user>Hi</user>',
    render: prompt('<user>{{ user.name.first }}</user>'),
  })
  const draft = { path: 'broken', prompt: '<user>{{ if }}</user>', force: true }
  await bench.api('POST', `${bench.live}/documents/create-or-update`, { body: draft })
})
afterAll(() => bench.close())

it('never includes the API key in an error, in any mode', async () => {
  bench.fake.enqueue({ status: 401, body: { error: { message: 'Incorrect API key provided: sk-test' } } })
  const recording = await bench.stream('plain')
  expect(recording.text).not.toContain('sk-test')
})

it('returns an error with the text for a structured response that is not JSON', async () => {
  bench.fake.enqueue({ text: 'not json' })
  const { body } = await bench.run('object')
  expect(body).toMatchObject({ errorCode: 'invalid_response_format_error', details: { text: 'not json' } })
  const { conversation } = await bench.conversation(body.details?.['conversationUuid'])
  expect(conversation).toEqual([userMessage('Hi'), assistantMessage('not json')])
})

it('ends the tool loop at maxSteps', async () => {
  const faulty = { toolCalls: [{ id: 'x', name: 'unknown_tool', arguments: {} }] }
  bench.fake.enqueue(faulty, faulty)
  const { body } = await bench.run('looping')
  expect(body).toMatchObject({ errorCode: 'max_step_count_exceeded_error', details: { maxSteps: 2 } })
})

const beforeAnyStep: [path: string, code: string, details: Record<string, unknown>][] = [
  ['no-provider', 'missing_provider_error', { provider: 'nobody', configured: expect.arrayContaining(['openai']) }],
  ['bad-config', 'document_config_error', { key: 'temperature', path: 'bad-config' }],
  ['no-model', 'document_config_error', { key: 'model', path: 'no-model' }],
  ['builtin', 'unsupported_feature_error', { feature: 'latitude/search' }],
  ['empty', 'unknown_error', {}],
  ['render', 'chain_compile_error', { path: 'render', line: 5 }],
]

for (const [path, code, details] of beforeAnyStep) {
  it(`${path}: ${code} before any step`, async () => {
    const before = bench.fake.requests.length
    const recording = await bench.stream(path)
    expect(recording.types).toEqual(['chain-started', 'chain-error'])
    expect(recording.last['error']).toMatchObject({ code, details })
    const { status, body } = await bench.run(path)
    expect(status).toBe(422)
    expect(body).toMatchObject({ errorCode: code, details })
    expect(bench.fake.requests).toHaveLength(before)
  })
}

it('keeps the first step and its cost if the run fails before the second', async () => {
  bench.fake.enqueue({ text: 'uno' })
  const recording = await bench.stream('late')
  expect(recording.types.slice(-2)).toEqual(['step-completed', 'chain-error'])
  expect(recording.last).toMatchObject({
    messages: [userMessage('One'), assistantMessage('uno')],
    tokenUsage: { totalTokens: 20 },
    error: { code: 'document_config_error' },
  })
})

it('refuses a prompt that does not compile before the response starts, in both modes', async () => {
  for (const stream of [false, true]) {
    const { status, body, headers } = await bench.run('broken', { stream })
    expect(status).toBe(422)
    expect(headers.get('content-type')).toContain('application/json')
    expect(body).toMatchObject({
      name: 'DocumentRunError',
      errorCode: 'chain_compile_error',
      message: expect.stringMatching(/^broken:1:\d+ /),
      details: { compileCode: expect.any(String), path: 'broken', line: 1, frame: expect.any(String) },
    })
  }
})

it('returns 404 with suggestions for an unknown document', async () => {
  const { status, body } = await bench.run('plian', { stream: true })
  expect(status).toBe(404)
  expect(body.details).toMatchObject({ path: 'plian', suggestions: ['plain'] })
})
