/** Covers all codes of failed runs. Result, stream, chat and attach must report each code identically. */
import { RUN_ERROR_CODES, type RunErrorCode } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunError } from '../../src/shared/app-error.ts'
import type { ApiAnswer } from '../http/api-call.ts'
import type { FakeReply, FakeReplyFor } from '../support/fake-provider.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

let bench: RunBench
const user = '<user>Hi</user>'
beforeAll(async () => {
  bench = await runBench({
    plain: prompt(user, 'maxRetries: 0\n'),
    object: prompt(user, 'schema: { type: object }\nmaxRetries: 0\n'),
    looping: prompt(user, 'maxSteps: 1\ntools:\n  - known: { description: x }\n'),
    'no-provider': '---\nprovider: nobody\nmodel: m\n---\n<user>Hi</user>',
    'bad-config': prompt(user, 'temperature: hot\n'),
    builtin: prompt(user, 'tools: [latitude/search]\n'),
    empty: prompt(''),
    render: prompt('<user>{{ user.name.first }}</user>'),
    sealed: '---\nprovider: sealed\nmodel: m\n---\n<user>Hi</user>',
  })
  const entry = { name: 'sealed', provider: 'openai', token: 'sk-0123456789abcdef' }
  await bench.api('POST', '/provider-api-keys', { body: entry })
  await bench.server.database.session.query(`UPDATE provider_key SET sealed_token = 'no token' WHERE name = 'sealed'`)
})
afterAll(() => bench.close())

interface Scenario {
  path: string
  /** The provider's reply. `end` ends a run that hangs. */
  reply?: FakeReplyFor
  end?: () => void
  /** The prompt causes the failure. A chat renders no prompt, so it cannot fail like this. */
  isOfPrompt?: true
}

const hanging: FakeReply = { text: 'x', hang: 'before-head' }
const active = () => bench.server.deps.runs.active.list()[0]

const scenarios: Record<RunErrorCode, Scenario> = {
  chain_compile_error: { path: 'render', isOfPrompt: true },
  document_config_error: { path: 'bad-config' },
  missing_provider_error: { path: 'no-provider' },
  ai_provider_config_error: { path: 'sealed' },
  ai_run_error: { path: 'plain', reply: { status: 401, body: { error: { message: 'no' } } } },
  rate_limit_error: { path: 'plain', reply: { status: 429 } },
  max_step_count_exceeded_error: {
    path: 'looping',
    reply: { toolCalls: [{ id: 'x', name: 'unknown_tool', arguments: {} }] },
  },
  invalid_response_format_error: { path: 'object', reply: { text: 'not json' } },
  unsupported_provider_response_type_error: {
    path: 'plain',
    reply: ({ body }) => {
      const choice = { [body['stream'] === true ? 'delta' : 'message']: { audio: { id: 'a' } } }
      const answer = JSON.stringify({ choices: [choice] })
      return body['stream'] === true ? { raw: [`data: ${answer}\n\n`] } : { status: 200, body: answer }
    },
  },
  unsupported_feature_error: { path: 'builtin' },
  abort_error: { path: 'plain', reply: hanging, end: () => void bench.stop(active()?.conversationUuid ?? '') },
  run_timeout_error: {
    path: 'plain',
    reply: hanging,
    end: () => active()?.abort(new RunError('run_timeout_error', 'x', { details: { seconds: 1 } })),
  },
  worker_lost: { path: 'plain', reply: hanging, end: () => active()?.abort(new RunError('worker_lost', 'x')) },
  unknown_error: { path: 'empty', isOfPrompt: true },
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

function expectCode({ status, text, body }: ApiAnswer, code: RunErrorCode): string {
  expect(status, text).toBe(422)
  expect(body).toMatchObject({ name: 'DocumentRunError', errorCode: code, details: { errorCode: code } })
  return String(body.details?.['conversationUuid'])
}

it('covers every code that the contract declares', () => {
  expect(Object.keys(scenarios).sort()).toEqual([...RUN_ERROR_CODES].sort())
})

describe.each(Object.entries(scenarios) as [RunErrorCode, Scenario][])('%s', (code, scenario) => {
  it('is the error of the result, of attach and of the conversation', async () => {
    const uuid = expectCode(await play(scenario, () => bench.run(scenario.path)), code)
    expect(expectCode(await bench.attach(uuid), code)).toBe(uuid)
    expect(await bench.conversation(uuid)).toMatchObject({
      status: code === 'abort_error' ? 'stopped' : 'error',
      error: { errorCode: code },
    })
  })

  it('ends the stream and every attached reader', async () => {
    const { last, text } = await play(scenario, () => bench.stream(scenario.path))
    expect(last).toMatchObject({ type: 'chain-error', error: { code, details: { errorCode: code } } })
    expect((await bench.streamAttach(String(last['uuid']))).text).toBe(text)
  })

  if (scenario.isOfPrompt) return
  it('is the error of a chat', async () => {
    const uuid = expectCode(await play(scenario, () => bench.run(scenario.path)), code)
    const messages = [{ role: 'user', content: 'Again' }]
    expect(expectCode(await play(scenario, () => bench.chat(uuid, { messages })), code)).toBe(uuid)
  })
})
