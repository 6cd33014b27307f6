import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ErrorBody } from '../matrix/wire.ts'

export const sdkVersion = '5.10.0'

export class PythonApiError extends Error {
  override name = 'PythonApiError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface PythonOptions {
  port: number
  key: string
  /** Seconds before the first retry, doubled each time. The client's default is 0.5. */
  delay?: number
}

export interface PythonRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** Without a body, the content type is still sent. */
  body?: Record<string, unknown>
  stream?: boolean
}

const retriable = new Set([408, 429, 500, 502, 503, 504])
const tries = 3

/** Retries like the client. Returns the response with its body unread. */
export async function pythonRequest(options: PythonOptions, call: PythonRequest): Promise<IncomingMessage> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await send(options, call)
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) return response
    if (!retriable.has(status) || attempt === tries) throw apiError(status, await textOf(response))
    response.resume()
    await delay((options.delay ?? 0.5) * 1_000 * 2 ** (attempt - 1))
  }
}

export async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

async function send({ port, key }: PythonOptions, call: PythonRequest): Promise<IncomingMessage> {
  const body = call.body && Buffer.from(pythonJson({ ...call.body, __internal: { source: 'api' } }))
  const sending = request({
    host: '127.0.0.1',
    port,
    method: call.method,
    path: encodeURI(call.path),
    agent: false,
    headers: {
      Host: `127.0.0.1:${port}`,
      'Accept-Encoding': 'gzip, deflate',
      Connection: 'keep-alive',
      'User-Agent': 'python-httpx/0.28.1',
      Authorization: `Bearer ${key}`,
      'X-Latitude-SDK-Version': sdkVersion,
      'Content-Type': 'application/json',
      Accept: call.stream === true ? 'text/event-stream' : 'application/json',
      ...(call.method !== 'GET' && { 'Content-Length': body?.length ?? 0 }),
    },
  })
  sending.end(body)
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  return response
}

// An incomplete error body loses its reason. Unknown keys are ignored.
function apiError(status: number, text: string): PythonApiError {
  // The client's model has no `reason`.
  const body = ErrorBody.loose().partial({ reason: true }).safeParse(parseOrNothing(text))
  if (!body.success) return new PythonApiError(status, 'internal_server_error', text)
  return new PythonApiError(status, body.data.errorCode, body.data.message)
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Formats JSON like Python: ASCII only, with a space after colons and commas. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${pythonJson(key)}: ${pythonJson(item)}`)
      .join(', ')}}`
  }
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export interface PythonEvent {
  event: string
  data: string
}

/**
 * Parses events like the client. Lines end where Python's `splitlines` ends them. The last id persists, so every later
 * blank line is an event named `message`, even without data.
 */
export async function* pythonEvents(response: AsyncIterable<unknown>, contentType = ''): AsyncGenerator<PythonEvent> {
  if (!contentType.includes('text/event-stream')) throw new PythonApiError(500, 'internal_server_error', contentType)
  const state = { event: '', data: [] as string[], id: '', hasRetry: false }
  for await (const line of splitLines(response)) {
    if (line === '') {
      if (state.event === '' && state.data.length === 0 && state.id === '' && !state.hasRetry) continue
      yield { event: state.event === '' ? 'message' : state.event, data: state.data.join('\n') }
      Object.assign(state, { event: '', data: [], hasRetry: false })
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') state.event = value
    else if (field === 'data') state.data.push(value)
    else if (field === 'id' && !value.includes('\0')) state.id = value
    else if (field === 'retry' && /^-?\d+$/.test(value)) state.hasRetry = true
  }
}

async function* splitLines(response: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of response) {
    const lines = (rest + decoder.decode(piece as Buffer, { stream: true })).split(
      /\r\n|[\n\v\f\x1c-\x1e\x85\u2028\u2029]|\r(?!$)/,
    )
    rest = lines.pop() ?? ''
    yield* lines
  }
}
