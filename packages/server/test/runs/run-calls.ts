/** Requests about runs to one server, and checks of complete streams. */
import { createParser } from 'eventsource-parser'
import { expect } from 'vitest'
import { type ApiAnswer, apiCaller, withoutPings } from '../http/api-call.ts'
import { assertDeclared } from '../http/declared-answers.ts'
import type { Api } from '../http/scenario.ts'

export interface RecordedEvent {
  name: string
  id: number
  data: Record<string, unknown>
}

export interface Recording {
  status: number
  headers: Headers
  /** The body without ping comments. */
  text: string
  events: RecordedEvent[]
  /** Each event's `type`, with a leading `·` for provider-events. */
  types: string[]
  last: Record<string, unknown>
}

export interface RunCalls {
  /** Sends requests with the key. */
  api: Api
  run(path: string, body?: Record<string, unknown>, headers?: Record<string, string>): Promise<ApiAnswer>
  chat(uuid: unknown, body: Record<string, unknown>, headers?: Record<string, string>): Promise<ApiAnswer>
  /** Starts a streamed run and returns the unread response. */
  open(path: string, body?: Record<string, unknown>, signal?: AbortSignal): Promise<Response>
  stream(path: string, body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Recording>
  streamChat(uuid: unknown, body: Record<string, unknown>): Promise<Recording>
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>
  /** Starts a background run and returns its conversation's uuid. */
  background(path: string, body?: Record<string, unknown>): Promise<string>
  attach(uuid: string, headers?: Record<string, string>): Promise<ApiAnswer>
  streamAttach(uuid: string, headers?: Record<string, string>): Promise<Recording>
  stop(uuid: string): Promise<ApiAnswer>
  conversation(uuid: unknown): Promise<Record<string, unknown>>
}

/** @param place `live` is the URL path of the version whose prompts run. */
export function runCalls({ url: origin, key, live }: { url: string; key: string; live: string }): RunCalls {
  const api = apiCaller(origin, key)
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) => {
    const url = `${origin}/api/v3${path}`
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
    const text = response.ok ? '' : await response.clone().text()
    assertDeclared('POST', url, { status: response.status, text })
    return response
  }
  return {
    api,
    post,
    run: (path, body, headers = {}) => api('POST', `${live}/documents/run`, { body: { path, ...body }, headers }),
    chat: (uuid, body, headers = {}) => api('POST', `/conversations/${String(uuid)}/chat`, { body, headers }),
    open: (path, body, signal) => post(`${live}/documents/run`, { path, stream: true, ...body }, {}, signal),
    stream: async (path, body, headers) =>
      record(await post(`${live}/documents/run`, { path, stream: true, ...body }, headers)),
    streamChat: async (uuid, body) =>
      record(await post(`/conversations/${String(uuid)}/chat`, { stream: true, ...body })),
    background: async (path, body) => {
      const answer = await api('POST', `${live}/documents/run`, { body: { path, background: true, ...body } })
      expect(answer).toMatchObject({ status: 200, body: { uuid: expect.any(String) } })
      return String(answer.body['uuid'])
    },
    attach: (uuid, headers = {}) => api('POST', `/conversations/${uuid}/attach`, { body: {}, headers }),
    streamAttach: async (uuid, headers) =>
      record(await post(`/conversations/${uuid}/attach`, { stream: true }, headers)),
    stop: (uuid) => api('POST', `/conversations/${uuid}/stop`),
    conversation: async (uuid) => (await api('GET', `/conversations/${String(uuid)}`)).body,
  }
}

/** Reads a stream to its end. A whole stream must also satisfy the stream rules. */
export async function record(response: Response, { isWhole = true } = {}): Promise<Recording> {
  const text = withoutPings(await response.text())
  const events: RecordedEvent[] = []
  const parser = createParser({
    onEvent: ({ event, id, data }) =>
      events.push({ name: event ?? '', id: Number(id), data: JSON.parse(data) as Record<string, unknown> }),
  })
  parser.feed(text)
  if (response.status === 200 && isWhole) assertStream(events)
  const types = events.map(({ name, data }) => `${name === 'provider-event' ? '·' : ''}${String(data['type'])}`)
  return { status: response.status, headers: response.headers, text, events, types, last: events.at(-1)?.data ?? {} }
}

/** Checks promise 8 and the payload of every latitude-event. */
function assertStream(events: readonly RecordedEvent[]): void {
  const terminal = events.filter(({ data }) => data['type'] === 'chain-completed' || data['type'] === 'chain-error')
  expect(terminal).toHaveLength(1)
  expect(events.at(-1)).toBe(terminal[0])
  const first = events[0]?.id ?? 0
  const ids = events.map((_, index) => first + index)
  // The end of a run whose process died is above all ids that this process may have sent.
  const isLost = JSON.stringify(terminal[0]?.data['error'] ?? '').includes('"worker_lost"')
  if (isLost && events.at(-1)?.id === first + events.length - 2 + 1_000_000) ids.splice(-1, 1, events.at(-1)?.id ?? 0)
  expect(events.map(({ id }) => id)).toEqual(ids)
  for (const { name, data } of events) {
    if (name === 'provider-event') continue
    expect(name).toBe('latitude-event')
    expect(data).toMatchObject({ timestamp: expect.any(Number), uuid: expect.any(String), providerLogUuid: '' })
    expect(data['messages']).toBeInstanceOf(Array)
    expect(data['source']).toEqual({ documentUuid: expect.any(String), commitUuid: expect.any(String) })
  }
}

export function textOf(recording: Recording): string {
  return recording.events
    .filter(({ data }) => data['type'] === 'text-delta')
    .map(({ data }) => String(data['textDelta']))
    .join('')
}
