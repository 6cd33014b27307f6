import { type IncomingMessage, type RequestListener, Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { refuse } from '../shared/app-error.ts'
import { newRequestId } from './auth/request-context.ts'
import { errorResponse } from './body/error-response.ts'
import { Connection } from './rate-limit/rate-limit.ts'

const keepAliveMs = 65_000
const headerLimitBytes = 16_384
const slowSenderMs = 30_000
/** How long ended connections may stay open until their clients close them. */
const lingerMs = 1_000

interface ServerLimits {
  /** Milliseconds to receive the headers, and to receive the complete request. Defaults to 30 s; shorter in tests. */
  slowSenderMs?: number
  maxConnections?: number
}

export class HttpServer extends Server {
  readonly #connections = new Map<Duplex, Connection>()

  constructor(app: RequestListener, limits: ServerLimits = {}) {
    const limitMs = limits.slowSenderMs ?? slowSenderMs
    super({
      noDelay: true,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: headerLimitBytes,
      headersTimeout: limitMs,
      requestTimeout: limitMs,
      connectionsCheckingInterval: Math.min(5_000, limitMs),
      // Node would reject a missing Host header without a response body, so `hasValidHost` checks the header.
      requireHostHeader: false,
    })
    const serve: RequestListener = (req, res) =>
      this.#connections.get(req.socket)?.take(res, hasValidHost(req) ? app : refuseHost)
    if (limits.maxConnections !== undefined) this.maxConnections = limits.maxConnections
    this.on('connection', (socket: Socket) => {
      this.#connections.set(socket, new Connection(socket))
      socket.once('close', () => this.#connections.delete(socket))
    })
    this.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      answerParserError(error, socket, this.#connections.get(socket)?.current),
    )
    this.on('request', serve)
    this.on('checkExpectation', serve)
  }

  /**
   * Ends idle connections with a 503 response, because a request may be in flight. Closes all connections after
   * `lingerMs`, or once the idle ones are closed. Closing a connection directly would reset a request in flight.
   */
  async endConnections(): Promise<void> {
    const idle = [...this.#connections].flatMap(([socket, { current }]) => (current ? [] : socket))
    const closed = idle.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of idle) socket.end(asText('server-stopping'))
    await Promise.race([Promise.all(closed), new Promise((resolve) => setTimeout(resolve, lingerMs))])
    this.closeAllConnections()
  }
}

/**
 * RFC 9112, 3.2 requires exactly one Host header; HTTP/1.0 requests may have none. Node ignores a second Host header,
 * but a proxy may route by it.
 */
function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1')
}

function refuseHost(_req: IncomingMessage, res: ServerResponse): void {
  const { status, headers, text } = lastResponse('malformed-http')
  res.writeHead(status, headers).end(text)
}

function answerParserError(error: NodeJS.ErrnoException, socket: Duplex, open: ServerResponse | undefined): void {
  // If a response has started, the client would read an error response as part of its body.
  if (error.code === 'ECONNRESET' || !socket.writable || open?.headersSent) socket.destroy()
  // The invalid data follows a complete request. An error response now would answer that request, so the connection
  // closes after the real response.
  else if (open?.req.complete) open.setHeader('Connection', 'close')
  else socket.end(asText(causeOf(error.code)))
}

type ConnectionCause = 'malformed-http' | 'slow-request' | 'head-too-large' | 'server-stopping'

function causeOf(code: string | undefined): ConnectionCause {
  if (code === 'HPE_HEADER_OVERFLOW') return 'head-too-large'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'slow-request' : 'malformed-http'
}

/** Returns the response that ends a connection. */
function lastResponse(cause: ConnectionCause) {
  const requestId = newRequestId()
  const { status, headers, body } = errorResponse(refuse(cause), requestId)
  const text = JSON.stringify(body)
  const own = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    Connection: 'close',
  }
  return { status, headers: { ...own, ...headers }, text }
}

function asText(cause: ConnectionCause): string {
  const { status, headers, text } = lastResponse(cause)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n')
}
