import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type AppError, refuse } from '../shared/app-error.ts'
import { newRequestId } from './auth/request-context.ts'
import { connectionOf } from './rate-limit/connection.ts'

const keepAliveMs = 65_000
const headerLimitBytes = 16_384
const slowSenderMs = 30_000
/** How long closed connections are still read. */
const lingerMs = 1_000

const statusTexts = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
} as const
const causes = { 400: 'malformed-http', 408: 'slow-request', 431: 'head-too-large' } as const
type ParserStatus = keyof typeof causes

interface ServerLimits {
  /** Defaults to 30 s for headers and bodies. Shorter in tests. */
  slowSenderMs?: number
  maxConnections?: number
}

export class HttpServer extends Server {
  readonly #open = new Set<AnsweringSocket>()

  constructor(app: RequestListener, limits: ServerLimits = {}) {
    const limitMs = limits.slowSenderMs ?? slowSenderMs
    super({
      noDelay: true,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: headerLimitBytes,
      headersTimeout: limitMs,
      requestTimeout: limitMs,
      connectionsCheckingInterval: Math.min(5_000, limitMs),
      // Node rejects a missing Host without a body, so `hasValidHost` checks it.
      requireHostHeader: false,
    })
    const serve: RequestListener = (req, res) => {
      // This request is pipelined behind an earlier one.
      if (!res.socket) connectionOf(req.socket).queue(res)
      // The connection was already ended with a response that the client has not read.
      if (req.socket.writableEnded) return
      if (hasValidHost(req)) app(req, res)
      else answerInTurn(res, parserError(400))
    }
    if (limits.maxConnections !== undefined) this.maxConnections = limits.maxConnections
    this.on('connection', (socket: AnsweringSocket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
    })
    this.on('clientError', answerParserError)
    this.on('request', serve)
    this.on('checkExpectation', serve)
  }

  /**
   * An idle connection may have a request in flight, so it gets a 503 and is read until the client closes it. Closing
   * it directly would reset it.
   */
  async endConnections(): Promise<void> {
    const idle = [...this.#open].filter(({ _httpMessage }) => !_httpMessage)
    const closed = idle.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of idle) socket.end(asText(stopping()))
    await Promise.race([Promise.all(closed), new Promise((resolve) => setTimeout(resolve, lingerMs))])
    this.closeAllConnections()
  }
}

/** RFC 9112, 3.2: one Host, optional in HTTP/1.0. Node drops a second one, but a proxy may route by it. */
function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1')
}

/** Node sends this after the responses to the connection's earlier requests. */
function answerInTurn(res: ServerResponse, { status, headers, body }: ReadyAnswer): void {
  res.writeHead(status, headers).end(body)
}

function answerParserError(error: NodeJS.ErrnoException, socket: AnsweringSocket): void {
  const open = socket._httpMessage
  // A second head inside a started response would be read as its body.
  if (error.code === 'ECONNRESET' || !socket.writable || open?.headersSent) socket.destroy()
  // The invalid data follows a complete request. An error response now would be mistaken for that request's.
  else if (open?.req.complete) open.setHeader('Connection', 'close')
  else socket.end(asText(parserError(statusOf(error.code))))
}

/** `_httpMessage` is the response that is currently due, if any. */
type AnsweringSocket = Duplex & { _httpMessage?: ServerResponse | null }

function statusOf(code: string | undefined): ParserStatus {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

interface ReadyAnswer {
  status: keyof typeof statusTexts
  headers: Record<string, string>
  body: string
}

function parserError(status: ParserStatus): ReadyAnswer {
  return readyAnswer(status, refuse(causes[status]))
}

function stopping(): ReadyAnswer {
  const answer = readyAnswer(503, refuse('server-stopping'))
  return { ...answer, headers: { ...answer.headers, 'Retry-After': '1' } }
}

function readyAnswer(status: ReadyAnswer['status'], { code: name, message, details }: AppError): ReadyAnswer {
  const body = JSON.stringify({ name, message, errorCode: name, details })
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'X-Request-Id': newRequestId(),
    Connection: 'close',
  }
  return { status, headers, body }
}

function asText({ status, headers, body }: ReadyAnswer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${statusTexts[status]}`, ...lines, '', body].join('\r\n')
}
