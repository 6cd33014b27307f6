import { expect, test } from 'vitest'
import { failureOf, sentDuring, userMessage } from '../matrix/client-bench.ts'
import type { Matrix } from '../matrix/client-matrix.ts'
import { ErrorBody } from '../matrix/wire.ts'
import type { Ready } from './ready.ts'

export function requestTests(matrix: Matrix, ready: Ready): void {
  matrix.behaviour('error reasons', () => reasonTests(ready))
  matrix.behaviour(
    'retries',
    () => repeatTests(ready),
    'The client retries twice, only on a status above 500, and sends no idempotency key. The server sends no such status after it has started the work.',
  )
  matrix.behaviour('request format', () => formTests(ready))
}

function reasonTests(ready: Ready): void {
  const key = async (options: { scopes?: ['read']; plan?: 'custom'; limit?: number }) =>
    (await ready().bench.server.client.apiKeys.create({ name: 'narrow', ...options })).key
  const expectReason = async (call: Promise<unknown>, status: number, errorCode: string): Promise<void> => {
    const failure = await failureOf(call)
    expect(failure).toMatchObject({ status, errorCode })
    expect(ErrorBody.parse(JSON.parse(String(failure['serverResponse'])))).toMatchObject({
      errorCode,
      message: failure['message'],
    })
  }

  test('400: a path that cannot be stored', async () => {
    const { client, bench } = ready()
    const versionUuid = await bench.newDraft()
    await expectReason(client.prompts.getOrCreate('a//b', { versionUuid }), 400, 'BadRequestError')
  })

  test('401: an unknown key', async () => {
    await expectReason(ready().another('not-a-key').prompts.get('greet'), 401, 'UnauthorizedError')
  })

  test('403: a key without the scope', async () => {
    const reader = ready().another(await key({ scopes: ['read'] }))
    await expectReason(reader.projects.create('no'), 403, 'ForbiddenError')
  })

  test('404: another project', async () => {
    await expectReason(ready().client.prompts.get('greet', { projectId: 999_999 }), 404, 'NotFoundError')
  })

  test('413: more than 4 MB', async () => {
    const { client, bench } = ready()
    const change = { path: 'large', content: 'x'.repeat(4_200_000), status: 'added' }
    await expectReason(client.versions.push(1, bench.liveUuid, [change]), 413, 'PayloadTooLargeError')
  })

  test('422: a score out of range', async () => {
    const { client, bench } = ready()
    const call = client.evaluations.annotate(await bench.newLog(), 6, await bench.newEvaluation())
    await expectReason(call, 422, 'UnprocessableEntityError')
  })

  test('429: too many requests', async () => {
    const client = ready().another(await key({ plan: 'custom', limit: 1 }))
    // Two requests may fall into different rate-limit windows, so this repeats until one is refused.
    for (let round = 0; round < 50; round += 1) {
      const calls = [1, 2, 3].map(() => client.prompts.get('greet'))
      const refused = (await Promise.allSettled(calls)).find(({ status }) => status === 'rejected')
      if (refused?.status !== 'rejected') continue
      return expectReason(Promise.reject(refused.reason), 429, 'RateLimitError')
    }
    expect.fail('The limit was never reached')
  })
}

function repeatTests(ready: Ready): void {
  test.each([501, 503, 599])('after %i twice the third try is served, and runs once', async (status) => {
    const { client, bench } = ready()
    const before = bench.provider.requests.length
    bench.front.refuseNext(status, status)
    const { answer, sent } = await sentDuring(bench, () => client.prompts.run('greet', { stream: true }))
    expect(answer?.response.text).toBe('Hello from the fake provider.')
    expect(bench.provider.requests.length - before).toBe(1)
    expect(sent.map(({ text }) => text)).toEqual([sent[0]?.text, sent[0]?.text, sent[0]?.text])
    expect(sent.filter(({ headers }) => 'idempotency-key' in headers)).toEqual([])
  })

  test('a third refusal is the error', async () => {
    const { client, bench } = ready()
    bench.front.refuseNext(503, 503, 503)
    expect(await failureOf(client.prompts.get('greet'))).toMatchObject({ status: 503, errorCode: 'RefusedError' })
  })

  test.each([429, 500])('%i is not repeated', async (status) => {
    const { client, bench } = ready()
    bench.front.refuseNext(status)
    const { answer, lines } = await sentDuring(bench, () => failureOf(client.prompts.get('greet')))
    expect(answer).toMatchObject({ status })
    expect(lines).toHaveLength(1)
  })

  test.each([
    ['a refusal', { status: 503 }],
    ['garbage', { garbage: true as const }],
    ['a cut', { text: 'one two three', cut: 1 }],
    ['an empty answer', { raw: [], status: 502 }],
  ])('%s of the provider is no reason to repeat: the run is made once', async (_name, reply) => {
    const { client, bench } = ready()
    bench.provider.enqueue(reply)
    const before = bench.provider.requests.length
    const { answer, lines } = await sentDuring(bench, () => failureOf(client.prompts.run('once', { stream: false })))
    expect(answer).toMatchObject({ status: 422, errorCode: 'ai_run_error' })
    expect(lines).toHaveLength(1)
    expect(bench.provider.requests.length - before).toBe(1)
  })
}

function formTests(ready: Ready): void {
  test('key, content type and version, on every request of this suite', async () => {
    const { bench, client, declares } = ready()
    await client.prompts.get('greet')
    for (const { headers } of bench.front.requests) {
      expect(headers).toMatchObject({
        authorization: expect.stringMatching(/^Bearer \S+$/),
        'content-type': 'application/json',
      })
      expect(headers['x-latitude-sdk-version']).toBe(declares)
    }
  })

  test('every POST tells its source, and no key is null; a GET has no body', async () => {
    await ready().client.projects.create('told')
    const posts = ready().bench.front.requests.filter(({ method }) => method === 'POST')
    for (const { body } of posts) {
      expect(body?.['__internal']).toEqual({ source: 'api' })
      expect(Object.values(body ?? {})).not.toContain(null)
    }
    const others = ready().bench.front.requests.filter(({ method }) => method !== 'POST')
    expect(new Set(others.map(({ method, text }) => `${method}${text}`))).toEqual(new Set(['GET']))
  })

  test('the keys of a run and of a chat', async () => {
    const { client, bench, declares } = ready()
    const all = { stream: true, parameters: {}, customIdentifier: 'x', userMessage: 'y', background: false, tools: {} }
    const { sent } = await sentDuring(bench, async () => {
      const result = await client.prompts.run('greet', all)
      await client.prompts.chat(result?.uuid ?? '', [userMessage('Hi')], { stream: true })
    })
    const of4 = [
      ['stream', 'path', 'parameters', 'customIdentifier', '__internal'],
      ['messages', 'stream', '__internal'],
    ]
    const of5 = [
      ['stream', 'background', 'path', 'parameters', 'customIdentifier', 'tools', 'userMessage', '__internal'],
      ['messages', 'tools', 'stream', '__internal'],
    ]
    expect(sent.map(({ body }) => Object.keys(body ?? {}))).toEqual(declares === undefined ? of4 : of5)
  })
}
