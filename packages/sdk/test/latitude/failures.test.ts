import { describe, expect, it } from 'vitest'
import { ConnectionError, RunError, StreamInterruptedError } from '../../src/index.ts'
import { Latitude, LatitudeApiError } from '../../src/latitude/index.ts'
import { cutEvents, events, json, localServer, type Reply, text } from '../support/local-server.ts'
import { failedRunEvents, frames, result, runEvents, UUID } from '../support/sample-run.ts'

async function clientOf(...replies: Reply[]) {
  const server = await localServer(...replies)
  // Disable resume, because a resumed stream would not fail.
  const streaming = { resume: false, idleTimeout: 45_000 }
  const latitude = new Latitude('k', { baseUrl: server.url, projectId: 1, maxRetries: 0, streaming })
  return { latitude, server }
}

const failing: [string, Reply, new (...args: never[]) => Error][] = [
  [
    'a refusal',
    json({ name: 'NotFoundError', message: 'No such prompt', errorCode: 'NotFoundError', details: {} }, 404),
    LatitudeApiError,
  ],
  ['a page of a proxy', text('<h1>Bad gateway</h1>', 502, { 'Content-Type': 'text/html' }), LatitudeApiError],
  ['a run that fails', events(frames(failedRunEvents(['Half']))), RunError],
  ['a stream that is cut', cutEvents(frames(runEvents(['a']).slice(0, 4))), StreamInterruptedError],
]

describe.each(failing)('%s', (_, reply, type) => {
  it('calls onError once and resolves to undefined', async () => {
    const { latitude } = await clientOf(reply)
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    expect(await latitude.prompts.run('a/b', { stream: true, onError })).toBeUndefined()
    expect(await latitude.prompts.chat(UUID, [{ role: 'user', content: 'Hi' }], { onError })).toBeUndefined()
    expect(errors).toEqual([expect.any(type), expect.any(type)])
  })

  it('rejects without onError', async () => {
    const { latitude } = await clientOf(reply)
    await expect(latitude.prompts.run('a/b', { stream: true })).rejects.toBeInstanceOf(type)
    await expect(latitude.prompts.chat(UUID, [])).rejects.toBeInstanceOf(type)
  })
})

it('sets status 402 on failed runs, over either transport and for every reader', async () => {
  const body = { name: 'DocumentRunError', message: 'Refused', errorCode: 'ai_run_error', details: {} }
  const { latitude } = await clientOf(
    events(frames(failedRunEvents(['Half']))),
    json(body, 422),
    events(frames(failedRunEvents(['Half']))),
  )
  const seen: unknown[] = []
  const keep = (error: unknown) => void seen.push(error)
  await latitude.prompts.run('a/b').catch(keep)
  await latitude.prompts.run('a/b', { stream: false }).catch(keep)
  await latitude.runs.attach(UUID, { onError: keep }).catch(keep)
  expect(seen).toHaveLength(4)
  for (const error of seen) {
    expect(error).toBeInstanceOf(LatitudeApiError)
    expect(error).toMatchObject({ status: 402, errorCode: 'ai_run_error' })
    expect((error as { dbErrorRef?: unknown }).dbErrorRef).toBeUndefined()
  }
})

it('keeps the server response', async () => {
  const body = { name: 'NotFoundError', message: 'No such prompt', errorCode: 'NotFoundError', details: {} }
  const { latitude } = await clientOf(json(body, 404))
  const error: unknown = await latitude.prompts.get('a/b').catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(LatitudeApiError)
  expect(error).toMatchObject({ status: 404, errorCode: 'NotFoundError', serverResponse: JSON.stringify(body) })
})

it('rejects with the exception of a callback, even with onError', async () => {
  const { latitude } = await clientOf(events(frames(runEvents(['a']))))
  const errors: unknown[] = []
  const run = latitude.prompts.run('a/b', {
    onError: (error) => errors.push(error),
    onEvent: () => {
      throw new RangeError('mine')
    },
  })
  await expect(run).rejects.toThrow(RangeError)
  expect(errors).toEqual([])
})

it('passes a missing project or an unreachable server to onError', async () => {
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const latitude = new Latitude('k', { baseUrl: 'http://127.0.0.1:1', projectId: 1, maxRetries: 0 })
  expect(await latitude.prompts.run('a/b', { onError })).toBeUndefined()
  expect(errors).toEqual([expect.any(ConnectionError)])
})

it('rejects if the server rejects a create', async () => {
  const { latitude } = await clientOf(
    json({ name: 'ConflictError', message: 'Taken', errorCode: 'ConflictError', details: {} }, 409),
  )
  await expect(latitude.prompts.create('a/b', { prompt: 'x' })).rejects.toMatchObject({ status: 409 })
  await expect(latitude.projects.create('p')).rejects.toBeInstanceOf(LatitudeApiError)
})

it('returns the response with the result, over either transport', async () => {
  const { latitude } = await clientOf(events(frames(runEvents(['a']))), json(result('b'), 200, { 'x-request-id': 'r' }))
  expect((await latitude.prompts.run('a/b').withResponse()).requestId).toBe('req_1')
  const { data, requestId } = await latitude.prompts.run('a/b', { stream: false }).withResponse()
  expect([data?.response.text, requestId]).toEqual(['b', 'r'])
})
