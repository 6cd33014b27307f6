/**
 * The tests connect a page, its own server and stet. The run crosses both connections, and the page resumes when its
 * connection breaks.
 */
import { expect, it, vi } from 'vitest'
import { type OpenRunOptions, openRun } from '../../src/browser/index.ts'
import { ApiError, ConnectionError, RunError, RunStream, Stet, StreamInterruptedError } from '../../src/index.ts'
import {
  cutEvents,
  events,
  json,
  localServer,
  openEvents,
  type Reply,
  text as textReply,
} from '../support/local-server.ts'
import { failedRunEvents, frames, runEvents, UUID } from '../support/sample-run.ts'

const run = runEvents(['Hel', 'lo ', '👋'])
const whole = frames(run)

/** Returns the route of a page's server. It forwards the stream, or breaks the page's connection after some events. */
async function routeTo(serviceUrl: string, cutAfter?: number): Promise<Reply> {
  const stet = new Stet({ apiKey: 'k', baseUrl: serviceUrl, projectId: 1, maxRetries: 0 })
  return async (response, { body, headers }) => {
    const { ticket, conversationUuid } = body as { ticket?: string; conversationUuid?: string }
    const lastEventId = headers['last-event-id']
    const opened = conversationUuid
      ? stet.runs.attachStream(conversationUuid, typeof lastEventId === 'string' ? { lastEventId } : {})
      : stet.prompts.stream('support/reply', { parameters: { ticket } })
    const { stream } = await opened.withResponse()
    const answer = stream.toResponse()
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.flushHeaders()
    let left = cutAfter
    for await (const frame of answer.body ?? []) {
      if (left === 0) break
      if (left !== undefined) left -= 1
      await new Promise((resolve) => response.write(frame, resolve))
    }
    if (left === 0) response.destroy()
    else response.end()
  }
}

async function typesOf(stream: RunStream): Promise<string[]> {
  const types: string[] = []
  for await (const { type } of stream) types.push(type)
  return types
}

it('reads a run through the page’s own server', async () => {
  const service = await localServer(events(whole, { headers: { 'X-Conversation-Uuid': UUID } }))
  const page = await localServer(await routeTo(service.url))
  const text: string[] = []
  const stream = openRun(`${page.url}/reply`, {
    body: { ticket: 'Where?' },
    headers: { 'X-Page': '1' },
    onText: (delta) => text.push(delta),
  })
  expect(await typesOf(stream)).toEqual(run.map(([, { type }]) => type))
  expect(text).toEqual(['Hel', 'lo ', '👋'])
  expect((await stream.finalResult()).response.text).toBe('Hello 👋')
  expect(stream).toBeInstanceOf(RunStream)
  expect(stream.conversationUuid).toBe(UUID)
  expect(page.requests[0]).toMatchObject({ method: 'POST', body: { ticket: 'Where?' }, headers: { 'x-page': '1' } })
  // The page neither sends nor receives an API key.
  expect(page.requests[0]?.headers['authorization']).toBeUndefined()
  expect(service.requests[0]?.headers['authorization']).toBe('Bearer k')
})

it.each([0, 5, run.length - 1])('resumes after a cut behind %i events', async (count) => {
  const known = { headers: { 'X-Conversation-Uuid': UUID } }
  const service = await localServer(events(whole, known), (response, request) => {
    const seen = Number(request.headers['last-event-id'] ?? 0)
    return events(whole.split('\n\n').slice(seen).join('\n\n'), known)(response, request)
  })
  const page = await localServer(await routeTo(service.url, count), await routeTo(service.url))
  const attached: string[] = []
  const stream = openRun(`${page.url}/reply`, {
    body: { ticket: 'Where?' },
    resume: { initialDelay: 1 },
    attachUrl: (uuid) => {
      attached.push(uuid)
      return `${page.url}/reply/attach`
    },
  })
  expect(await typesOf(stream)).toEqual(run.map(([, { type }]) => type))
  expect(await stream.finalText()).toBe('Hello 👋')
  expect(attached).toEqual([UUID])
  expect(page.requests[1]).toMatchObject({ url: '/reply/attach', body: { conversationUuid: UUID } })
  expect(page.requests[1]?.headers['last-event-id']).toBe(count === 0 ? undefined : String(count))
  expect(service.requests[1]?.url).toContain(`/conversations/${UUID}/attach`)
})

it.each<OpenRunOptions>([{}, { attachUrl: 'unused', resume: false }])('rejects at a cut with %j', async (options) => {
  const page = await localServer(cutEvents(frames(run.slice(0, 5))))
  const error: unknown = await openRun(page.url, options)
    .finalResult()
    .catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StreamInterruptedError)
  expect(error).toMatchObject({ conversationUuid: UUID, lastEventId: '5', partial: { text: 'Hel' } })
})

it('rejects with the error that the route returns', async () => {
  const page = await localServer(
    json({ name: 'UnauthorizedError', message: 'Log in first', errorCode: 'UnauthorizedError' }, 401),
  )
  const errors: unknown[] = []
  const stream = openRun(page.url, { onError: (error) => errors.push(error) })
  const error: unknown = await stream.finalResult().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 401, message: expect.stringContaining('Log in first') })
  expect(errors).toEqual([error])
  const html = await localServer(textReply('<p>Hi</p>', 200, { 'Content-Type': 'text/html' }))
  await expect(openRun(html.url).finalResult()).rejects.toThrow(/not an event stream/)
  await expect(openRun('http://127.0.0.1:1/').finalResult()).rejects.toBeInstanceOf(ConnectionError)
})

it('rejects with the error of a failed run', async () => {
  const service = await localServer(events(frames(failedRunEvents(['Half']))))
  const page = await localServer(await routeTo(service.url))
  const error: unknown = await openRun(page.url, { body: {} })
    .finalResult()
    .catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(RunError)
  expect(error).toMatchObject({ errorCode: 'ai_run_error', partial: { text: 'Half' } })
})

it('closes the socket when the page aborts', async () => {
  let isClosed = false
  const page = await localServer(
    openEvents(frames(run.slice(0, 5)), {
      onClose: () => {
        isClosed = true
      },
    }),
  )
  const controller = new AbortController()
  const stream = openRun(page.url, { signal: controller.signal })
  await stream.started()
  controller.abort()
  await expect(stream.finalResult()).rejects.toMatchObject({ name: 'AbortError' })
  await vi.waitFor(() => expect(isClosed).toBe(true), 120_000)
  expect(page.requests).toHaveLength(1)
})
