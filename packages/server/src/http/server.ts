/** The HTTP server: sockets, time limits and the answers that the parser gives before a route is known. */
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { newRequestId } from './request/request-id.ts'

const keepAliveMs = 65_000
const headerLimitBytes = 16_384
const slowSenderMs = 30_000

const statusTexts = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' } as const
const messages = {
  400: 'Malformed HTTP request',
  408: 'The request took too long to arrive',
  431: 'The request head is larger than 16 KB',
} as const
type ParserStatus = keyof typeof messages

/** @param timeouts shorter limits for tests; heads and bodies have 30 s. */
export function createHttpServer(app: RequestListener, timeouts: { slowSenderMs?: number } = {}): Server {
  const limitMs = timeouts.slowSenderMs ?? slowSenderMs
  const serve: RequestListener = (req, res) => {
    if (req.headers.host === undefined && req.httpVersion === '1.1')
      req.socket.end(parserErrorResponse(400, newRequestId()))
    else app(req, res)
  }
  const server = createServer(
    {
      noDelay: true,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: headerLimitBytes,
      headersTimeout: limitMs,
      requestTimeout: limitMs,
      connectionsCheckingInterval: Math.min(5_000, limitMs),
      // Node answers a missing Host without a body; ours is below.
      requireHostHeader: false,
      ...presetPrototypes(app, Number.parseInt(process.versions.node, 10)),
    },
    serve,
  )
  server.on('clientError', answerParserError)
  server.on('checkExpectation', serve)
  return server
}

/**
 * Express changes the prototypes of every request and response, which is slow before Node 24. Objects that are born
 * with them make that a no-op (2.6 times the requests on Node 20); on Node 24 the same costs more than it saves.
 */
export function presetPrototypes(app: RequestListener, nodeMajor: number): object {
  if (nodeMajor >= 24 || !('request' in app) || !('response' in app)) return {}
  return {
    IncomingMessage: withPrototype(IncomingMessage, app.request),
    ServerResponse: withPrototype(ServerResponse, app.response),
  }
}

// Node's own constructors are plain functions, so they can be applied to an object of another prototype.
function withPrototype(parent: typeof IncomingMessage | typeof ServerResponse, prototype: unknown): unknown {
  function Preset(this: object, ...args: unknown[]): void {
    Reflect.apply(parent, this, args)
  }
  Preset.prototype = prototype
  return Preset
}

function answerParserError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  socket.end(parserErrorResponse(statusOf(error.code), newRequestId()))
}

// A second head inside a response that has begun would be read as its body, or as the answer to another request.
function isAnswering(socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true
}

function statusOf(code: string | undefined): ParserStatus {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

/** The whole response as text, in the error body of every other error. */
function parserErrorResponse(status: ParserStatus, requestId: string): string {
  const name = 'BadRequestError'
  const body = JSON.stringify({ name, message: messages[status], errorCode: name, details: {} })
  return [
    `HTTP/1.1 ${status} ${statusTexts[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
