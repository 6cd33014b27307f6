import { describe, expect, it } from 'vitest'
import {
  ConfigurationError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  RunError,
  StetError,
} from '../../src/index.ts'
import { createMockStet, events } from '../../src/testing/index.ts'

const failure = async (promise: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('It did not fail')
}

async function apiError(status: number, body: object): Promise<StetError> {
  const stet = createMockStet({}, { fetch: fetch })
  const answering = stet.withOptions({
    fetch: async () => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } }),
  })
  const error = await failure(answering.me())
  if (error instanceof StetError) return error
  throw error
}

describe('a mocked client', () => {
  it('responds to runs by prompt path, over every transport', async () => {
    const stet = createMockStet({ 'support/reply': 'On its way.' })
    const streamed = await stet.prompts.run('support/reply', { parameters: { ticket: 't' } })
    const plain = await stet.prompts.run('/support/reply', { stream: false })
    expect([streamed.response.text, plain.response.text]).toEqual(['On its way.', 'On its way.'])
    expect(streamed).toEqual(plain)
    const stream = stet.prompts.stream('support/reply')
    expect(await stream.finalText()).toBe('On its way.')
    const job = await stet.prompts.run('support/reply', { background: true })
    expect(job.uuid).toBe(streamed.uuid)
    expect(stet.calls).toHaveLength(4)
    expect(stet.calls[0]).toMatchObject({
      operation: 'prompts.run',
      path: 'support/reply',
      method: 'POST',
      body: { path: 'support/reply', parameters: { ticket: 't' }, stream: true },
    })
    expect(stet.calls[0]?.headers.get('idempotency-key')).toMatch(/./)
    stet.reset()
    expect(stet.calls).toEqual([])
  })

  it.each([[{ urgency: 'high' }], [['a', 'b']], [7], [false], [null]])(
    'responds with the object %j',
    async (object) => {
      const stet = createMockStet({ 'support/triage': { response: { object } } })
      const stream = stet.prompts.stream<unknown>('support/triage')
      expect(await stream.finalObject()).toEqual(object)
      expect(await stream.finalText()).toBe(JSON.stringify(object))
      const played = createMockStet({ a: events('', { object }) }).prompts.stream<unknown>('a')
      expect(await played.finalObject()).toEqual(object)
    },
  )

  it('responds to other requests by operation', async () => {
    const stet = createMockStet({
      'conversations.chat': { uuid: 'c-1', cost: 2 },
      'versions.list': [{ uuid: 'v-1' }],
      'prompts.get': 'Hello {{ name }}',
      'prompts.list': [],
    })
    expect(await stet.prompts.chat('c-1', 'And?')).toMatchObject({ uuid: 'c-1', cost: 2 })
    expect(await stet.versions.list()).toEqual([{ uuid: 'v-1' }])
    expect(await stet.prompts.get('a/b c')).toMatchObject({ path: 'a/b c', content: 'Hello {{ name }}' })
    expect(await stet.prompts.list()).toEqual([])
    expect(stet.calls.map(({ operation, path }) => [operation, path])).toEqual([
      ['conversations.chat', undefined],
      ['versions.list', undefined],
      ['prompts.get', 'a/b c'],
      ['prompts.list', undefined],
    ])
  })

  it('prefers the reply for the path', async () => {
    const stet = createMockStet({ 'a/b': 'by path', 'prompts.run': 'by operation' })
    expect((await stet.prompts.run('a/b')).response.text).toBe('by path')
    expect((await stet.prompts.run('c')).response.text).toBe('by operation')
  })

  it('calls a function reply with the request', async () => {
    const stet = createMockStet({
      echo: async ({ body }) => JSON.stringify((body as { parameters: object }).parameters),
    })
    expect(await stet.prompts.stream('echo', { parameters: { a: 1 } }).finalText()).toBe('{"a":1}')
  })

  it('replays events', async () => {
    const stet = createMockStet({ 'a/b': events(['Hel', 'lo'], { uuid: 'u-1' }) })
    const deltas: string[] = []
    const { response, uuid } = await stet.prompts.run('a/b', { onText: (delta) => deltas.push(delta) })
    expect([deltas, response.text, uuid]).toEqual([['Hel', 'lo'], 'Hello', 'u-1'])
    expect((await stet.prompts.run('a/b', { stream: false })).response.text).toBe('Hello')
  })

  it('fails as configured', async () => {
    const stet = createMockStet({
      missing: await apiError(404, {
        name: 'NotFoundError',
        message: 'No such prompt',
        errorCode: 'NotFoundError',
        details: {},
      }),
      busy: await apiError(429, {
        name: 'RateLimitError',
        message: 'Too many',
        errorCode: 'RateLimitError',
        details: {},
      }),
      broken: await apiError(422, {
        name: 'DocumentRunError',
        message: 'The provider refused',
        errorCode: 'ai_run_error',
        details: { errorCode: 'ai_run_error' },
      }),
      cut: new ConnectionError('reset'),
      other: new RangeError('no StetError'),
    })
    expect(await failure(stet.prompts.run('missing'))).toBeInstanceOf(NotFoundError)
    expect(await failure(stet.prompts.run('busy', { stream: false }))).toBeInstanceOf(RateLimitError)
    for (const stream of [true, false]) {
      const error = await failure(stet.prompts.run('broken', { stream }))
      expect(error).toBeInstanceOf(RunError)
      expect(error).toMatchObject({ status: 422, errorCode: 'ai_run_error' })
    }
    expect(await failure(stet.prompts.run('cut'))).toBeInstanceOf(ConnectionError)
    expect(await failure(stet.prompts.run('other'))).toBeInstanceOf(ConnectionError)
  })

  it('rejects a request without a reply, unless onUnmatched is empty', async () => {
    const stet = createMockStet({ 'a/b': 'x' })
    const error = await failure(stet.prompts.run('c/d'))
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(String(error)).toContain("no reply for prompts.run of 'c/d'; it has 'a/b'")
    const lenient = createMockStet({}, { onUnmatched: 'empty' })
    expect((await lenient.prompts.run('c/d')).response.text).toBe('')
    expect(await lenient.projects.list()).toEqual([])
    expect(await lenient.conversations.list().then((page) => page.items)).toEqual([])
    expect(await lenient.prompts.get('c/d')).toMatchObject({ path: 'c/d', content: '' })
  })

  it('is a real client: options, scopes and configuration errors work', async () => {
    const stet = createMockStet({ 'prompts.list': [] }, { projectId: 7 })
    await stet.project(8).version('v-1').prompts.list()
    expect(stet.calls[0]?.url).toContain('/projects/8/versions/v-1/documents')
    expect(await failure(stet.prompts.get('a/../b'))).toBeInstanceOf(ConfigurationError)
  })
})
