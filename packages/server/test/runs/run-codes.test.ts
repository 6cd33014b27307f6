/** Covers all codes of failed runs. Result, stream, chat and attach must report each code identically. */
import { RUN_ERROR_CODES, type RunErrorCode } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RunError } from '../../src/shared/app-error.ts'
import type { ApiAnswer } from '../http/api-call.ts'
import type { FakeReply, FakeReplyFor } from '../support/fake-provider.ts'
import { assistantMessage, prompt, type RunBench, runBench, userMessage } from './run-bench.ts'

let bench: RunBench
const user = '<user>Hi</user>'
beforeAll(async () => {
  bench = await runBench({
    plain: prompt(user, 'maxRetries: 0\n'),
    object: prompt(user, 'schema: { type: object }\nmaxRetries: 0\n'),
    looping: prompt(user, 'maxSteps: 1\ntools:\n  - known: { description: x }\n'),
    'no-provider': '---\nprovider: nobody\nmodel: m\n---\n<user>Hi</user>',
    'no-model': '---\nprovider: openai\n---\n<user>Hi</user>',
    'bad-config': prompt(user, 'temperature: hot\n'),
    builtin: prompt(user, 'tools: [latitude/search]\n'),
    empty: prompt(''),
    late: prompt('<step><user>One</user></step>\n<step model={{ 1 }}><user>Two</user></step>'),
    render: prompt('<user>{{ user.name.first }}</user>'),
    sealed: '---\nprovider: sealed\nmodel: m\n---\n<user>Hi</user>',
  })
  const entry = { name: 'sealed', provider: 'openai', token: 'sk-0123456789abcdef' }
  await bench.api('POST', '/provider-api-keys', { body: entry })
  await bench.server.database.session.query(`UPDATE provider_key SET sealed_token = 'no token' WHERE name = 'sealed'`)
  const draft = { path: 'broken', prompt: '<user>{{ if }}</user>', force: true }
  await bench.api('POST', `${bench.live}/documents/create-or-update`, { body: draft })
})
afterAll(() => bench.close())

interface Scenario {
  path: string
  details?: Record<string, unknown>
  /** The provider's reply. `end` ends a run that hangs. */
  reply?: FakeReplyFor
  end?: () => void
  /** The run fails before any step and model call. */
  isEarly?: true
  /** The prompt causes the failure. A chat renders no prompt, so it cannot fail like this. */
  isOfPrompt?: true
}

const hanging: FakeReply = { text: 'x', hang: 'before-head' }
const active = () => bench.server.deps.runs.active.list()[0]

const scenarios: Record<RunErrorCode, Scenario> = {
  chain_compile_error: { path: 'render', isOfPrompt: true, isEarly: true, details: { path: 'render', line: 5 } },
  document_config_error: {
    path: 'bad-config',
    isEarly: true,
    details: { key: 'temperature', path: 'bad-config' },
  },
  missing_provider_error: {
    path: 'no-provider',
    isEarly: true,
    details: { provider: 'nobody', configured: expect.arrayContaining(['openai']) },
  },
  ai_provider_config_error: { path: 'sealed' },
  ai_run_error: {
    path: 'plain',
    reply: { status: 401, body: { error: { message: 'Incorrect API key provided: sk-test' } } },
  },
  rate_limit_error: { path: 'plain', reply: { status: 429 } },
  max_step_count_exceeded_error: {
    path: 'looping',
    reply: { toolCalls: [{ id: 'x', name: 'unknown_tool', arguments: {} }] },
    details: { maxSteps: 1 },
  },
  invalid_response_format_error: { path: 'object', reply: { text: 'not json' }, details: { text: 'not json' } },
  unsupported_provider_response_type_error: {
    path: 'plain',
    reply: ({ body }) => {
      const choice = { [body['stream'] === true ? 'delta' : 'message']: { audio: { id: 'a' } } }
      const answer = JSON.stringify({ choices: [choice] })
      return body['stream'] === true ? { raw: [`data: ${answer}\n\n`] } : { status: 200, body: answer }
    },
  },
  unsupported_feature_error: { path: 'builtin', isEarly: true, details: { feature: 'latitude/search' } },
  abort_error: { path: 'plain', reply: hanging, end: () => void bench.stop(active()?.conversationUuid ?? '') },
  run_timeout_error: {
    path: 'plain',
    reply: hanging,
    end: () => active()?.abort(new RunError('run_timeout_error', 'x', { details: { seconds: 1 } })),
  },
  worker_lost: { path: 'plain', reply: hanging, end: () => active()?.abort(new RunError('worker_lost', 'x')) },
  unknown_error: { path: 'empty', isOfPrompt: true, isEarly: true },
}

async function play<T>({ reply, end }: Scenario, call: () => Promise<T>): Promise<T> {
  const calls = bench.fake.requests.length
  if (reply) bench.fake.enqueue(reply)
  const answer = call()
  if (end) {
    await bench.fake.waitForRequest(calls + 1)
    end()
  }
  return answer
}

it('covers every code that the contract declares', () => {
  expect(Object.keys(scenarios).sort()).toEqual([...RUN_ERROR_CODES].sort())
})

it.each(Object.entries(scenarios) as [RunErrorCode, Scenario][])(
  '%s: in every response form',
  async (code, scenario) => {
    const { path, isEarly, isOfPrompt, details = {} } = scenario
    const expectCode = ({ status, text, body }: ApiAnswer) => {
      expect(status, text).toBe(422)
      expect(body).toMatchObject({
        name: 'DocumentRunError',
        errorCode: code,
        details: { errorCode: code, ...details },
      })
      return String(body.details?.['conversationUuid'])
    }
    const calls = bench.fake.requests.length
    const uuid = expectCode(await play(scenario, () => bench.run(path)))
    expect(expectCode(await bench.attach(uuid))).toBe(uuid)
    const status = code === 'abort_error' ? 'stopped' : 'error'
    expect(await bench.conversation(uuid)).toMatchObject({ status, error: { errorCode: code } })

    const { last, text, types } = await play(scenario, () => bench.stream(path))
    expect(last).toMatchObject({ type: 'chain-error', error: { code, details: { errorCode: code, ...details } } })
    expect((await bench.streamAttach(String(last['uuid']))).text).toBe(text)
    expect(text).not.toContain('sk-test')
    if (isEarly) {
      expect(types).toEqual(['chain-started', 'chain-error'])
      expect(bench.fake.requests).toHaveLength(calls)
    }

    if (isOfPrompt) return
    const messages = [{ role: 'user', content: 'Again' }]
    expect(expectCode(await play(scenario, () => bench.chat(uuid, { messages })))).toBe(uuid)
  },
)

it('keeps a structured response that is not JSON in the conversation', async () => {
  bench.fake.enqueue({ text: 'not json' })
  const { body } = await bench.run('object')
  const { conversation } = await bench.conversation(body.details?.['conversationUuid'])
  expect(conversation).toEqual([userMessage('Hi'), assistantMessage('not json')])
})

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

it('names the key of a prompt without a model, and the place in a prompt that does not compile', async () => {
  const details = { key: 'model', path: 'no-model' }
  expect((await bench.run('no-model')).body).toMatchObject({ errorCode: 'document_config_error', details })
  for (const stream of [false, true]) {
    const { status, body, headers } = await bench.run('broken', { stream })
    expect(status).toBe(422)
    expect(headers.get('content-type')).toContain('application/json')
    expect(body).toMatchObject({
      errorCode: 'chain_compile_error',
      message: expect.stringMatching(/^broken:1:\d+ /),
      details: { compileCode: expect.any(String), path: 'broken', line: 1, frame: expect.any(String) },
    })
  }
})
