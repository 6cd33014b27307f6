import { Provider, ProviderTest } from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testProviderKey } from '../../src/features/providers/test-provider-key.ts'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import { heardMs } from '../support/heard-time.ts'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, issueKey, openTenant } from './scenario.ts'

const token = 'sk-stored-0123456789'

let bench: RunBench
beforeAll(async () => {
  const environment = { STET_ALLOWED_PRIVATE_HOSTS: 'localhost', ANTHROPIC_API_KEY: 'sk-ant-environment' }
  bench = await runBench({ hello: prompt('<user>Hi</user>') }, environment)
})
afterAll(() => bench.close())

async function store(body: Record<string, unknown>): Promise<number> {
  const answer = await bench.api('POST', '/provider-api-keys', { body: { token, ...body } })
  expect(answer.status, answer.text).toBe(201)
  return Number(answer.body['id'])
}

it.each([
  ['custom', 'url', { url: 'https://models.example.com/v1/chat/completions' }],
  ['custom', 'url', { url: 'https://models.example.com/v1/responses/' }],
  ['anthropic', 'configuration.baseUrl', { configuration: { baseUrl: 'https://models.example.com/v1/messages' } }],
])('refuses the address of one operation as the address of a provider: %s, %s', async (provider, path, body) => {
  const entry = { name: 'operation', provider, token, defaultModel: 'm', ...body }
  const answer = await bench.api('POST', '/provider-api-keys', { body: entry })
  expect(refusalOf(answer)).toEqual({ status: 400, reason: 'invalid-body', path })
  expect(answer.text).toContain('must be the base address, without /')
})

describe('GET /providers', () => {
  const list = async (call = bench.api) => {
    const answer = await call('GET', '/providers')
    expect(answer.status, answer.text).toBe(200)
    return { ...answer, providers: Provider.array().parse(answer.body) }
  }

  it('lists what prompts can name, with prices and without secrets, for every key that reads', async () => {
    const url = 'https://models.example.com/v1'
    const prices = [
      { model: 'house-large', input: 2, output: 8 },
      { model: 'house-*', input: 1, output: 4 },
    ]
    await store({ name: 'House', provider: 'custom', url, defaultModel: 'house-small', configuration: { prices } })
    const reader = await issueKey(bench.api, { scopes: ['read'] })
    const { providers, text } = await list(apiCaller(bench.server.url, reader))
    expect(providers.map(({ name }) => name)).toEqual(['House', 'anthropic', 'demo', 'openai'])
    const [house, anthropic, demo, openai] = providers
    expect(house).toEqual({
      name: 'House',
      provider: 'custom',
      defaultModel: 'house-small',
      isDemo: false,
      models: [
        { id: 'house-large', inputPrice: 2, outputPrice: 8 },
        { id: 'house-small', inputPrice: 1, outputPrice: 4 },
      ],
    })
    expect(demo).toMatchObject({ isDemo: true, models: [{ id: 'demo', inputPrice: 0, outputPrice: 0 }] })
    expect(openai).toMatchObject({ provider: 'openai', defaultModel: null, isDemo: false })
    expect(openai?.models).toContainEqual({ id: 'gpt-4o', inputPrice: 2.5, outputPrice: 10 })
    expect(openai?.models.map(({ id }) => id)).not.toContain('text-embedding-3-small')
    const ids = anthropic?.models.map(({ id }) => id) ?? []
    expect(ids.length).toBeGreaterThan(5)
    const older = ['claude-opus-5', 'claude-opus-4-5', 'claude-sonnet-4-0', 'claude-3-haiku', 'claude-2']
    expect(ids.filter((id) => older.includes(id))).toEqual(older)
    for (const secret of [token, 'sk-ant-environment', 'sk-test', 'models.example.com', bench.fake.url]) {
      expect(text).not.toContain(secret)
    }
  })

  it('shows the provider that a run uses', async () => {
    const id = await store({ name: 'OPENAI', provider: 'openai', defaultModel: 'gpt-4o-mini' })
    const names = (await list()).providers.map(({ name, defaultModel }) => [name, defaultModel])
    expect(names).toContainEqual(['OPENAI', 'gpt-4o-mini'])
    expect(names.map(([name]) => name)).not.toContain('openai')
    expect((await bench.api('DELETE', `/provider-api-keys/${id}`)).status).toBe(200)
    expect((await list()).providers.map(({ name }) => name)).toContain('openai')
  })

  it('lists the models of a type of provider before a key of it is stored', async () => {
    const { status, text, body } = await bench.api('GET', '/providers?modelsOf=mistral')
    expect(status, text).toBe(200)
    const [mistral, ...others] = Provider.array().parse(body)
    expect(others).toEqual([])
    expect(mistral).toMatchObject({ name: 'mistral', provider: 'mistral', defaultModel: null, isDemo: false })
    expect(mistral?.models.length).toBeGreaterThan(5)
    const google = await bench.api('GET', '/providers?modelsOf=google')
    const models = Provider.array().parse(google.body)[0]?.models ?? []
    const firstDeprecated = models.findIndex(({ deprecated }) => deprecated)
    expect(firstDeprecated).toBeGreaterThan(5)
    expect(models.slice(firstDeprecated).every(({ deprecated }) => deprecated)).toBe(true)
    const refused = await bench.api('GET', '/providers?modelsOf=nobody')
    expect([refused.status, refused.body['reason']]).toEqual([400, 'invalid-query'])
  })

  it("does not show other workspaces' providers", async () => {
    await store({ name: 'ours', provider: 'groq' })
    const other = await list(apiCaller(bench.server.url, await openTenant(bench.server, 'others')))
    expect(other.providers.map(({ name }) => name)).toEqual(['anthropic', 'demo', 'openai'])
  })
})

describe('the model of a prompt', () => {
  /** The warnings for a prompt with these settings: of a check, of the stored prompt, and of the list. */
  const warnings = async (settings: string) => {
    const { draft } = await createTestProject(bench.api)
    const body = { path: 'warned', prompt: `---\n${settings}\n---\nHi` }
    const checked = await bench.api('POST', `${draft}/documents/check`, { body })
    const stored = await bench.api('POST', `${draft}/documents/create-or-update`, { body })
    const listed = await bench.api('GET', `${draft}/documents?resolved=false&prefix=warned`)
    const [first] = listed.body as unknown as Record<string, unknown>[]
    expect(checked.status, checked.text).toBe(200)
    expect(stored.body['issues']).toEqual(checked.body['issues'])
    expect(first?.['issues']).toEqual(checked.body['issues'])
    return (checked.body['issues'] as { severity: string; line: number; message: string }[]).map(
      ({ severity, line, message }) => `${severity} ${line} ${message}`,
    )
  }

  it('is a warning if its provider does not have it', async () => {
    for (const provider of ['openai', 'anthropic']) await store({ name: `usual-${provider}`, provider })
    expect(await warnings('provider: usual-openai\nmodel: gpt-5o-mini')).toEqual([
      'warning 3 `gpt-5o-mini` is not in the list of models of usual-openai. Did you mean `gpt-5-mini`?',
    ])
    expect(await warnings('provider: usual-anthropic\nmodel: gpt-4o')).toEqual([
      'warning 3 `gpt-4o` is not in the list of models of usual-anthropic',
    ])
  })

  it.each([
    ['a dated name', 'dated', 'gpt-4o-2024-11-20'],
    ['a tuned model', 'tuned', 'ft:gpt-4o-mini-2024-07-18:ours::1'],
    ['the demo', 'demo', 'anything'],
    ['a provider without a list', 'houseless', 'anything'],
    ['a deployment', 'deployed', 'ours'],
    ['an address of its own', 'elsewhere', 'ours'],
    ['a default model', 'defaulting', 'ours'],
    ['a model with a price of its own', 'priced', 'ours-2'],
  ])('is taken as it is: %s', async (_, provider, model) => {
    const url = 'https://models.example.com/v1'
    const own = {
      dated: { provider: 'openai' },
      tuned: { provider: 'openai' },
      houseless: { provider: 'custom', url },
      deployed: { provider: 'azure', configuration: { resourceName: 'ours' } },
      elsewhere: { provider: 'openai', url },
      defaulting: { provider: 'openai', defaultModel: 'ours' },
      priced: { provider: 'openai', configuration: { prices: [{ model: 'ours-*', input: 1, output: 1 }] } },
    }[provider]
    if (own) await store({ name: provider, ...own })
    expect(await warnings(`provider: ${provider}\nmodel: ${model}`)).toEqual([])
  })
})

describe('POST /provider-api-keys/test', () => {
  const ask = (body: Record<string, unknown>) => bench.api('POST', '/provider-api-keys/test', { body })
  const test = async (body: Record<string, unknown>) => {
    const answer = await ask(body)
    expect(answer.status, answer.text).toBe(200)
    return ProviderTest.parse(answer.body)
  }

  it('makes one call with 16 output tokens', async () => {
    const calls = bench.fake.requests.length
    bench.fake.enqueue({ deltas: ['st', 'et'] })
    const tested = await test({ name: 'OpenAI', model: 'gpt-4o' })
    expect(tested).toMatchObject({ ok: true, provider: 'openai', model: 'gpt-4o', text: 'stet', error: null })
    expect(tested.firstTokenMs).toBeLessThanOrEqual(tested.durationMs)
    const sent = bench.fake.requests.slice(calls)
    expect(sent).toHaveLength(1)
    expect(Object.entries(sent[0]?.body ?? {})).toContainEqual([expect.stringMatching(/^max.*tokens$/), 16])
    expect(await bench.api('GET', '/conversations?limit=1')).toMatchObject({ body: { items: [] } })
  })

  it('uses the default model, and asks for one without it', async () => {
    expect(await test({ name: 'demo' })).toMatchObject({ ok: true, provider: 'custom', model: 'demo', error: null })
    expect(refusalOf(await ask({ name: 'openai' }))).toEqual({ status: 400, reason: 'invalid-body', path: 'model' })
    expect(refusalOf(await ask({ name: 'none' }))).toEqual({ status: 404, reason: 'unknown-provider-key' })
  })

  it("shows a refusal once, in the provider's own words and without secrets", async () => {
    const url = bench.fake.url.replace('127.0.0.1', 'localhost')
    await store({ name: 'refusing', provider: 'custom', url, defaultModel: 'm' })
    const calls = bench.fake.requests.length
    bench.fake.enqueue({ status: 401, body: { error: { message: `Incorrect API key provided: ${token}` } } })
    const answer = await ask({ name: 'refusing' })
    expect(ProviderTest.parse(answer.body)).toMatchObject({
      ok: false,
      firstTokenMs: null,
      text: '',
      error: {
        errorCode: 'ai_run_error',
        message: expect.stringContaining('refusing: 401 Incorrect API key provided'),
      },
    })
    expect(answer.text).not.toContain(token)
    bench.fake.enqueue({ status: 429, body: { error: { message: 'Slow down' } } })
    expect((await test({ name: 'refusing' })).error).toEqual({
      errorCode: 'rate_limit_error',
      message: 'refusing: 429 Slow down',
    })
    // A service that sends the key back as its text, and ignores the token limit.
    bench.fake.enqueue({ deltas: [`You sent ${token}. `, 'x'.repeat(10_000)] })
    const echoed = await test({ name: 'refusing' })
    expect(echoed.text).toMatch(/^You sent \*{3}\. x+$/)
    expect(echoed.text).toHaveLength(2_000)
    const basic = Buffer.from(`user:${token}`).toString('base64')
    bench.fake.enqueue({ deltas: [`You sent Basic ${basic}.`] })
    const text = (await test({ name: 'refusing' })).text
    expect(text).toMatch(/^You sent Basic \S*\*{3}\S*$/)
    expect(text).not.toContain(basic.slice(8, 20))
    expect(bench.fake.requests.slice(calls)).toHaveLength(4)
  })

  it('shows a response whole if the token is one letter', async () => {
    const url = bench.fake.url.replace('127.0.0.1', 'localhost')
    await store({ name: 'short token', provider: 'custom', url, defaultModel: 'm', token: 't' })
    bench.fake.enqueue({ deltas: ['stet'] })
    expect((await test({ name: 'short token' })).text).toBe('stet')
  })

  it('ends the call when its client disconnects', async () => {
    const calls = bench.fake.requests.length
    bench.fake.enqueue({ deltas: ['st', 'et'], hang: 'mid-stream' })
    const leaving = new AbortController()
    const answer = fetch(`${bench.server.url}/api/v3/provider-api-keys/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'openai', model: 'gpt-4o' }),
      signal: leaving.signal,
    }).catch(() => 'left')
    await expect.poll(() => bench.fake.requests.length).toBe(calls + 1)
    leaving.abort()
    expect(await answer).toBe('left')
    // The time limit of a test is 20 s.
    expect(await heardMs(Promise.resolve(bench.fake.requests[calls]?.left))).toBeLessThan(15_000)
  })

  it('reaches no address that a run could not reach', async () => {
    const id = await store({
      name: 'moved',
      provider: 'custom',
      url: 'https://models.example.com/v1',
      defaultModel: 'm',
    })
    // As if the name of the host had moved to a private address since.
    const sql = 'UPDATE provider_key SET url = $2 WHERE id = $1'
    await bench.server.database.session.query(sql, [id, bench.fake.url])
    await bench.server.deps.liveCache.drop('workspace:1')
    const calls = bench.fake.requests.length
    const { ok, error } = await test({ name: 'moved' })
    expect({ ok, errorCode: error?.errorCode }).toEqual({ ok: false, errorCode: 'ai_provider_config_error' })
    expect(bench.fake.requests).toHaveLength(calls)
  })

  it('ends at its time limit, and keeps the text that arrived', async () => {
    const { deps } = bench.server
    const input = { workspaceId: 1, apiKeyId: 1, name: 'openai', model: 'gpt-4o', signal: new AbortController().signal }
    // On a busy machine, the text may need longer than the first limit.
    for (let testLimitMs = 250; ; testLimitMs *= 2) {
      bench.fake.enqueue({ deltas: ['half'], hang: 'mid-stream' })
      const tested = await testProviderKey({ ...deps, providers: { ...deps.providers, testLimitMs } }, input)
      const message = `openai: the response was not complete after ${testLimitMs / 1000} s`
      expect(tested.error).toEqual({ errorCode: 'run_timeout_error', message })
      expect(tested.durationMs).toBeGreaterThanOrEqual(testLimitMs - 10)
      if (tested.text === '') continue
      expect(tested.text).toBe('half')
      await bench.fake.requests.at(-1)?.left
      break
    }
  })
})
