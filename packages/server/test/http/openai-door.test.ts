/** The routes below `/v1` before a run starts: keys, models, the form of errors, and what is refused. */
import { beforeAll, describe, expect, it } from 'vitest'
import { listModels } from '../../src/http/openai/named-prompt.ts'
import { caller as firstCaller } from '../runs/run-bench.ts'
import { apiCaller, httpCall } from './api-call.ts'
import { countRows } from './foreign-ids.ts'
import { createTestProject, issueKey, openTenant, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
const demo = '---\nprovider: demo\n---\n'
const unlimited = { plan: 'custom', limit: 100_000 }
const unknownResponse = `resp_${'0'.repeat(32)}`

let project: TestProject
let other: TestProject
let key: string
/** A key for all projects. */
let wideKey: string

beforeAll(async () => {
  project = await createTestProject(api, {
    'support/reply': `${demo}<user>About {{ ticket }}</user>`,
    stepped: `${demo}<step><user>One</user></step><step><user>{{ LATITUDE_USER_MESSAGE }}</user></step>`,
    'pmpt_a/v3': `${demo}<user>Three</user>`,
    pmpt_a: `${demo}<user>Newest</user>`,
  })
  other = await createTestProject(api, { 'support/other': `${demo}<user>Hi</user>` })
  await api('PUT', `/projects/${project.id}`, { body: { name: `Door ${project.id}` } })
  key = await issueKey(api, { scopes: ['read', 'run'], projectId: project.id, ...unlimited })
  wideKey = await issueKey(api, { scopes: ['run'], ...unlimited })
})

interface DoorError {
  error: { message: string; type: string; param: string; code: string; stet: { name: string } }
}

async function call(method: string, path: string, { body, as = key, headers = {} }: CallOptions = {}) {
  const authorization: Record<string, string> = as === '' ? {} : { authorization: `Bearer ${as}` }
  return httpCall(method, `${server.url}/v1${path}`, {
    headers: { ...authorization, ...headers },
    ...(body !== undefined && { body }),
  })
}

interface CallOptions {
  body?: unknown
  /** Empty: without a key. */
  as?: string
  headers?: Record<string, string>
}

const errorOf = ({ status, body }: Awaited<ReturnType<typeof call>>) => {
  const { type, param, code } = (body as unknown as DoorError).error ?? {}
  return { status, type, param, code }
}

/** Each route with a request that a key with its scopes may send. */
const routes = [
  { method: 'GET', path: '/models', scope: 'read' },
  { method: 'GET', path: '/models/support%2Freply', scope: 'read' },
  { method: 'POST', path: '/chat/completions', scope: 'run', body: { model: 'support/reply' } },
  { method: 'POST', path: '/responses', scope: 'run', body: { model: 'support/reply' } },
  { method: 'GET', path: `/responses/${unknownResponse}`, scope: 'read' },
  { method: 'POST', path: `/responses/${unknownResponse}/cancel`, scope: 'run' },
] as const

describe('access', () => {
  const unauthorized = { status: 401, type: 'authentication_error', param: '', code: 'invalid_api_key' }
  const expectAll = async (as: string, expected: object) => {
    for (const { method, path, ...rest } of routes) {
      const body = 'body' in rest ? rest.body : undefined
      expect({ path, ...errorOf(await call(method, path, { as, body })) }).toEqual({ path, ...expected })
    }
  }

  it('needs a valid key on every route', async () => {
    await expectAll('', unauthorized)
    await expectAll('stet_short', unauthorized)
    const revoked = await api('POST', '/api-keys', { body: { name: 'revoked', scopes: ['run'] } })
    expect((await api('DELETE', `/api-keys/${String(revoked.body['id'])}`)).status).toBe(200)
    await expectAll(String(revoked.body['key']), unauthorized)
    const expiresAt = new Date(Date.now() + 1_000).toISOString()
    const expiring = await issueKey(api, { scopes: ['run'], expiresAt, ...unlimited })
    await expect.poll(async () => (await call('GET', '/models', { as: expiring })).status).toBe(401)
    await expectAll(expiring, unauthorized)
  })

  it('needs the scope of the route', async () => {
    const denied = { status: 403, type: 'permission_error', param: '', code: 'missing-scope' }
    await expectAll(await issueKey(api, { scopes: ['publish'], ...unlimited }), denied)
    const reader = await issueKey(api, { scopes: ['read'], projectId: project.id, ...unlimited })
    for (const { method, path, scope } of routes) {
      const answer = await call(method, path, { as: reader, ...(method === 'POST' && { body: {} }) })
      if (scope === 'run') expect(errorOf(answer)).toEqual(denied)
      else expect(answer.status, path).not.toBe(403)
    }
  })

  it('limits the rate of a key', async () => {
    for (const { method, path, ...rest } of routes) {
      const as = await issueKey(api, { scopes: ['read', 'run'], plan: 'custom', limit: 1, projectId: project.id })
      const body = 'body' in rest ? rest.body : undefined
      const answers = await Promise.all(Array.from({ length: 4 }, () => call(method, path, { as, body })))
      const refused = answers.find(({ status }) => status === 429)
      expect(refused && errorOf(refused), path).toMatchObject({ type: 'rate_limit_error', param: '' })
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
  })

  it('hides prompts and runs of other projects and workspaces', async () => {
    const run = await call('POST', '/responses', { body: { model: 'support/reply' } })
    const id = String(run.body['id'])
    expect((await call('GET', `/responses/${id}`)).status).toBe(200)
    const tenant = apiCaller(server.url, await openTenant(server, 'door tenant'))
    const foreign = await issueKey(tenant, { scopes: ['read', 'run'], ...unlimited })
    const hidden = await issueKey(api, { scopes: ['read', 'run'], projectId: other.id, ...unlimited })
    for (const as of [foreign, hidden]) {
      const before = await countRows(server)
      const missing = { status: 404, type: 'invalid_request_error' }
      const responseMissing = { ...missing, code: 'response_not_found' }
      expect(errorOf(await call('GET', `/responses/${id}`, { as }))).toMatchObject(responseMissing)
      expect(errorOf(await call('GET', `/responses/${id}?stream=true`, { as }))).toMatchObject(responseMissing)
      expect(errorOf(await call('POST', `/responses/${id}/cancel`, { as }))).toMatchObject(responseMissing)
      const model = `${project.id}/support/reply`
      const modelMissing = { ...missing, param: 'model', code: 'model_not_found' }
      expect(errorOf(await call('GET', `/models/${model}`, { as }))).toMatchObject(modelMissing)
      for (const path of ['/chat/completions', '/responses'])
        expect(errorOf(await call('POST', path, { as, body: { model } }))).toMatchObject(modelMissing)
      const item = [{ type: 'item_reference', id: `msg_${id.slice(5)}_0` }]
      const own = as === hidden ? 'support/other' : 'none/none'
      const referring = await call('POST', '/responses', { as, body: { model: own, input: item } })
      expect(errorOf(referring)).toEqual({ ...missing, param: 'input[0].id', code: 'item_not_found' })
      const going = { model: own, previous_response_id: id, input: 'More' }
      expect(errorOf(await call('POST', '/responses', { as, body: going }))).toEqual({
        ...missing,
        param: 'previous_response_id',
        code: 'previous_response_not_found',
      })
      expect(
        ((await call('GET', '/models', { as })).body['data'] as { id: string }[]).map((each) => each.id),
      ).not.toContain('support/reply')
      expect(await countRows(server)).toEqual(before)
    }
  })
})

describe('models', () => {
  const listed = async (as: string) =>
    ((await call('GET', '/models', { as })).body['data'] as { id: string }[]).map(({ id }) => id)

  it('are the live prompts, by path or with their project', async () => {
    expect(await listed(key)).toEqual(['pmpt_a', 'pmpt_a/v3', 'stepped', 'support/reply'])
    expect(await listed(wideKey)).toContain(`Door ${project.id}/support/reply`)
    const { body } = await call('GET', '/models')
    expect(body).toMatchObject({ object: 'list' })
    expect((body['data'] as object[])[0]).toEqual({
      id: 'pmpt_a',
      object: 'model',
      created: expect.any(Number),
      owned_by: `Door ${project.id}`,
    })
  })

  it('beyond the limit are left out from the end of the list', async () => {
    const { id, live } = await createTestProject(api, { b: `${demo}<user>Hi</user>`, c: `${demo}<user>Hi</user>` })
    const versions = live.replace('/live', '')
    const { body } = await api('POST', versions, { body: { name: 'one more' } })
    const changes = [{ path: 'a', status: 'added', content: `${demo}<user>Hi</user>` }]
    await api('POST', `${versions}/${String(body['uuid'])}/push`, { body: { changes } })
    await api('POST', `${versions}/${String(body['uuid'])}/publish`)
    const caller = { ...firstCaller, projectId: id }
    expect((await listModels(server.deps, caller, 2)).map((model) => model.id)).toEqual(['a', 'b'])
  })

  it.each(['support/reply', 'support%2Freply'])('are found with raw and encoded slashes: %s', async (path) => {
    expect((await call('GET', `/models/${path}`)).body).toMatchObject({ id: 'support/reply', object: 'model' })
  })

  it('are named with the project by a key for all projects, and may be by a key for one', async () => {
    const run = async (model: string, as: string) => (await call('POST', '/responses', { as, body: { model } })).status
    expect(await run(`${project.id}/support/reply`, wideKey)).toBe(200)
    expect(await run(`Door ${project.id}/support/reply`, wideKey)).toBe(200)
    expect(await run('support/reply', wideKey)).toBe(404)
    expect(await run(`${project.id}/support/reply`, key)).toBe(200)
    expect(await run(`${other.id}/support/other`, key)).toBe(404)
  })

  it('take a published number, a uuid and the prompt object of OpenAI', async () => {
    const { body } = await api('GET', project.live)
    const uuid = String(body['uuid'])
    const run = async (request: object) => call('POST', '/responses', { body: request })
    for (const version of ['live', '1', uuid]) {
      const byModel = await run({ model: `support/reply@${version}` })
      expect(byModel.body).toMatchObject({ model: `support/reply@${version}`, stet: { versionUuid: uuid, version: 1 } })
      const byPrompt = await run({ prompt: { id: 'support/reply', version } })
      expect(byPrompt.body).toMatchObject({ stet: { promptPath: 'support/reply', versionUuid: uuid } })
    }
    expect((await run({ prompt: { id: 'pmpt_a', version: '3' } })).body).toMatchObject({
      stet: { promptPath: 'pmpt_a/v3' },
    })
    expect((await run({ prompt: { id: 'pmpt_a' } })).body).toMatchObject({ stet: { promptPath: 'pmpt_a' } })
    expect(errorOf(await run({ model: 'stepped', prompt: { id: 'support/reply' } }))).toMatchObject({
      status: 400,
      code: 'model_mismatch',
    })
    expect(errorOf(await run({ model: 'support/reply@99' }))).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  it('that are missing are refused with the nearest prompt, and with a hint for those of a provider', async () => {
    const missing = await call('POST', '/chat/completions', { body: { model: 'support/repli' } })
    expect((missing.body as unknown as DoorError).error).toMatchObject({
      message: "The model 'support/repli' does not exist: no live prompt has this path. Did you mean 'support/reply'?",
      param: 'model',
      code: 'model_not_found',
      stet: { name: 'NotFoundError' },
    })
    const passed = await call('POST', '/responses', { body: { model: 'demo/gpt-5-mini' } })
    expect((passed.body as unknown as DoorError).error.message).toMatch(/publish a prompt at this path/)
  })
})

describe('parameters', () => {
  const shown = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await call('POST', '/responses', { body: { model: 'support/reply', ...body }, headers })
    return { text: answer.text, error: errorOf(answer), warning: answer.headers.get('x-stet-warning') }
  }

  it('are read from each of the three places', async () => {
    expect((await shown({ parameters: { ticket: 'TICKET-1' } })).text).toContain('TICKET-1')
    const variables = { ticket: { type: 'input_text', text: 'TICKET-2' } }
    const byPrompt = await call('POST', '/responses', { body: { prompt: { id: 'support/reply', variables } } })
    expect(byPrompt.text).toContain('TICKET-2')
    const header = { 'x-stet-parameters': '{"ticket":"TICK\\u00c9T-3"}' }
    expect((await shown({}, header)).text).toContain('TICKÉT-3')
  })

  it('are refused in two places, and as a malformed header', async () => {
    const header = { 'x-stet-parameters': '{"ticket":"b"}' }
    expect((await shown({ parameters: { ticket: 'a' } }, header)).error).toMatchObject({
      status: 400,
      code: 'parameters_twice',
    })
    expect((await shown({ parameters: {} }, header)).error.status).toBe(200)
    for (const text of ['{', '[]', '"a"', `{"a":"${'a'.repeat(8_192)}"}`])
      expect((await shown({}, { 'x-stet-parameters': text })).error).toMatchObject({
        status: 400,
        param: 'X-Stet-Parameters',
      })
  })

  it('that the prompt does not know cause a warning, besides those of the request', async () => {
    const { warning } = await shown({ parameters: { tickt: 'a' }, logit_bias: {}, store: false })
    expect(warning).toContain('unknown parameter "tickt", did you mean "ticket"?')
    expect(warning).toContain('ignored: logit_bias')
    expect(warning).toContain('store')
  })

  it('can be the last user message, also in a prompt with steps', async () => {
    const messages = [{ role: 'user', content: 'SPOKEN' }]
    const answer = await call('POST', '/chat/completions', { body: { model: 'stepped', messages } })
    expect(answer.text).toContain('SPOKEN')
    const two = [...messages, { role: 'assistant', content: 'a' }, ...messages]
    const refused = await call('POST', '/chat/completions', { body: { model: 'stepped', messages: two } })
    expect(errorOf(refused)).toMatchObject({ status: 400, code: 'messages-with-steps' })
  })
})

describe('errors', () => {
  it.each([
    ['an unknown route', 'GET', '/embeddings', 404, 'unknown_route'],
    ['another method', 'DELETE', '/models', 405, 'method-not-allowed'],
    ['another method of a model with slashes', 'POST', '/models/support/reply', 405, 'method-not-allowed'],
    ['a route that is not offered', 'POST', '/responses/compact', 404, 'unknown_route'],
    ['a path below a response', 'GET', `/responses/${unknownResponse}/input_items`, 404, 'unknown_route'],
    ['another method of a response', 'DELETE', `/responses/${unknownResponse}`, 405, 'method-not-allowed'],
    ['a malformed id', 'GET', '/responses/resp_1', 404, 'response_not_found'],
    ['a malformed path', 'GET', '/models/a%zz', 400, 'malformed-path'],
  ])('have the form of OpenAI: %s', async (_name, method, path, status, code) => {
    const answer = await call(method, path)
    expect(errorOf(answer)).toEqual({ status, type: 'invalid_request_error', param: expect.any(String), code })
  })

  it('have one text for a response that is not there, also if the run is one of the API', async () => {
    const begun = await api('POST', `${project.live}/documents/run`, { body: { path: 'pmpt_a' } })
    const listed = await api('GET', `/projects/${project.id}/runs`)
    const ran = (listed.body['items'] as { uuid: string; conversationUuid: string }[]).find(
      ({ conversationUuid }) => conversationUuid === begun.body['uuid'],
    )
    const paths = [`resp_${ran?.uuid.replaceAll('-', '')}`, unknownResponse, 'resp_1'].map((id) => `/responses/${id}`)
    const answers = await Promise.all(paths.map((path) => call('GET', path)))
    const message = 'There is no such response, or this key may not see it'
    const error = { message, param: '', code: 'response_not_found', stet: { name: 'NotFoundError' } }
    expect(answers.map(({ status, body }) => [status, body])).toMatchObject(Array(3).fill([404, { error }]))
  })

  it.each([
    ['invalid JSON', '{', 400, 'malformed-json'],
    ['a list', '[]', 400, undefined],
    ['a text that cannot be stored', '{"model":"a\\u0000"}', 400, 'invalid-body'],
  ])('have it before the request is read: %s', async (_name, body, status, code) => {
    const headers = { 'content-type': 'application/json' }
    const { error } = (await call('POST', '/responses', { body, headers })).body as unknown as DoorError
    expect(error).toMatchObject({ type: 'invalid_request_error', param: expect.any(String), code: code ?? error.code })
    const unsupported = await call('POST', '/responses', { body: 'a', headers: { 'content-type': 'text/plain' } })
    expect(errorOf(unsupported)).toMatchObject({ status: 415, type: 'invalid_request_error' })
    expect(status).toBe(400)
  })

  const refused: readonly (readonly [body: object, param: string, code: string])[] = [
    [{ n: 2 }, 'n', 'unsupported_value'],
    [{ functions: [] }, 'functions', 'unsupported_value'],
    [{ function_call: 'auto' }, 'function_call', 'unsupported_value'],
    [{ audio: {} }, 'audio', 'unsupported_value'],
    [{ modalities: ['audio'] }, 'modalities', 'unsupported_value'],
    [{ web_search_options: {} }, 'web_search_options', 'unsupported_value'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', 'unsupported_tool'],
    [{ temperature: 'hot' }, 'temperature', 'invalid_value'],
    [{ metadata: { a: 1 } }, 'metadata.a', 'invalid_value'],
    [{ user: 'a'.repeat(257) }, 'user', 'invalid_value'],
  ]
  it('name the refused field, and nothing is stored', async () => {
    const before = await countRows(server)
    for (const [body, param, code] of refused) {
      for (const path of ['/chat/completions', '/responses']) {
        const answer = await call('POST', path, { body: { model: 'support/reply', ...body } })
        expect(errorOf(answer)).toEqual({ status: 400, type: 'invalid_request_error', param, code })
      }
    }
    const audio = { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }
    for (const request of [
      { path: '/chat/completions', body: { messages: [audio] } },
      { path: '/responses', body: { input: [audio] } },
    ]) {
      const answer = await call('POST', request.path, { body: { model: 'support/reply', ...request.body } })
      expect(errorOf(answer)).toMatchObject({ status: 400, code: 'unsupported_content' })
    }
    expect(await countRows(server)).toEqual(before)
  })
})
