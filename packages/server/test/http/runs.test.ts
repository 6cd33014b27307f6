import { Conversation, RunResult } from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import type { TestServer } from '../support/test-server.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, createTestProject, issueKey, openServer, type TestProject } from './scenario.ts'

let fake: FakeProvider
let server: TestServer
let api: Api
let project: TestProject

const prompt = '---\nprovider: openai\nmodel: gpt-4o\n---\nHello {{ name }}'

beforeAll(async () => {
  fake = await fakeProvider()
  ;({ server, api } = await openServer({
    OPENAI_API_KEY: 'sk-0123456789abcdef',
    OPENAI_BASE_URL: fake.url,
    STET_MAX_STREAMS_PER_KEY: '1',
    STET_GRACE_MS: '0',
  }))
  project = await createTestProject(api, { hello: prompt })
})
afterAll(async () => {
  await server.close()
  await fake.close()
})

const run = (body: Record<string, unknown>, call: { key?: string; headers?: Record<string, string> } = {}) =>
  api('POST', `${project.live}/documents/run`, {
    body: { path: 'hello', parameters: { name: 'Ada' }, ...body },
    ...call,
  })

describe('JSON run', () => {
  it("returns the documented body and its conversation's uuid", async () => {
    fake.enqueue({ text: 'Hi Ada' })
    const answer = await run({})
    expect(answer.status, answer.text).toBe(200)
    expect(RunResult.parse(answer.body)).toMatchObject({
      response: { text: 'Hi Ada', provider: 'openai' },
      toolRequests: [],
    })
    expect(answer.headers.get('x-conversation-uuid')).toBe(answer.body['uuid'])
    expect(answer.headers.get('x-ratelimit-limit')).not.toBeNull()
    const conversation = await api('GET', `/conversations/${String(answer.body['uuid'])}`)
    expect(Conversation.parse(conversation.body)).toEqual(conversation.body)
    expect(conversation.body).toMatchObject({
      status: 'completed',
      conversation: answer.body['conversation'],
      error: null,
    })
  })

  it("omits fields that a legacy client's models refuse", async () => {
    for (const [headers, expected] of [
      [{}, ['reasoning', 'text']],
      [{ 'x-latitude-sdk-version': '5.1.0' }, ['text']],
    ] as const) {
      fake.enqueue({ reasoning: 'thinking', text: 'Hi' })
      const { body } = await run({}, { headers })
      const { conversation } = body as unknown as RunResult
      expect(conversation.at(-1)?.content).toMatchObject(expected.map((type) => ({ type })))
      expect((body as unknown as RunResult).response.output.at(-1)?.content).toHaveLength(expected.length)
    }
  })

  it('returns 422 for a failed run, with its code and conversation', async () => {
    fake.enqueue({ status: 401, body: { error: { message: 'bad key' } } })
    const answer = await run({})
    expect({ status: answer.status, name: answer.body['name'] }).toEqual({ status: 422, name: 'DocumentRunError' })
    expect(answer.body['errorCode']).toBe('ai_run_error')
    expect(answer.body.details).toMatchObject({ errorCode: 'ai_run_error', status: 401 })
    expect(answer.body.details?.['conversationUuid']).toBe(answer.headers.get('x-conversation-uuid'))
  })
})

describe('streamed run', () => {
  it('has the headers of an event stream and of the rate limit', async () => {
    fake.enqueue({ deltas: ['Hi', ' Ada'] })
    const { status, headers, text } = await run({ stream: true })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('x-conversation-uuid')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
    expect(text).toMatch(/^event: latitude-event\ndata: \{"type":"chain-started"/)
    expect(text).toContain('"type":"chain-completed"')
  })

  it.each([
    ['an unknown prompt', { path: 'nowhere' }, 404],
    ['an invalid body', { parameters: [] }, 400],
  ])('returns JSON for %s', async (_name, body, status) => {
    const answer = await run({ stream: true, ...body })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it("counts toward its key's open streams", async () => {
    const key = await issueKey(api, { scopes: ['run'] })
    fake.enqueue({ hang: 'before-head' })
    const requests = fake.requests.length
    const abort = new AbortController()
    const open = await fetch(`${server.url}/api/v3${project.live}/documents/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'hello', parameters: { name: 'Ada' }, stream: true }),
      signal: abort.signal,
    })
    expect(open.status).toBe(200)
    await fake.waitForRequest(requests + 1)
    const second = await run({ stream: true }, { key })
    expect({ status: second.status, name: second.body['name'] }).toEqual({ status: 429, name: 'RateLimitError' })
    expect(second.headers.get('retry-after')).toBe('1')
    fake.enqueue({ text: 'other key' })
    expect((await run({ stream: true })).status).toBe(200)
    abort.abort()
    await expect.poll(async () => (await run({ stream: true }, { key })).status).toBe(200)
  })
})

describe('chat', () => {
  it('continues the conversation, and returns 404 for an unknown one', async () => {
    fake.enqueue({ text: 'one' })
    const first = await run({})
    fake.enqueue({ text: 'two' })
    const messages = [{ role: 'user', content: 'And now?' }]
    const chat = await api('POST', `/conversations/${String(first.body['uuid'])}/chat`, { body: { messages } })
    expect(chat.status, chat.text).toBe(200)
    expect(RunResult.parse(chat.body).conversation.map(({ role }) => role)).toEqual([
      'system',
      'assistant',
      'user',
      'assistant',
    ])
    for (const uuid of ['x', '00000000-0000-4000-8000-000000000000', '%00']) {
      const answer = await api('POST', `/conversations/${uuid}/chat`, { body: { messages } })
      expect(refusalOf(answer)).toEqual({ status: 404, reason: 'unknown-conversation' })
      expect((await api('GET', `/conversations/${uuid}`)).status).toBe(404)
    }
  })
})
