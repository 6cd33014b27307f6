import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../../shared/caller.ts'
import { randomText } from '../../shared/ids.ts'
import type { Span, Tracer } from '../../shared/telemetry.ts'
import { type LegacyClient, legacyClient } from '../../wire/legacy-clients.ts'

export interface RequestContext {
  requestId: string
  /** Measured with `performance.now()`. */
  startedAtMs: number
  legacyClient: LegacyClient | undefined
  caller: Caller | undefined
  /** The path of the matched route, e.g. `/projects/:projectId`. */
  route: string | undefined
  open: AbortSignal | undefined
  /** Undefined if the request is not traced. */
  span: Span | undefined
  /** Names the span. Undefined: after method and route. */
  spanName: string | undefined
}

// Stored on the response, because a WeakMap with many short-lived keys slows down garbage collection.
const contextKey = Symbol('request context')
type WithContext = ServerResponse & { [contextKey]?: RequestContext }

const harmlessId = /^[A-Za-z0-9._-]{1,128}$/

/** Sets the request id and the default headers. Must run before any call of `contextOf`. */
export function openContext(req: IncomingMessage, res: ServerResponse): void {
  // Node joins repeated headers with these names into one string, although its types also allow lists.
  const { 'x-request-id': givenId = '', 'x-latitude-sdk-version': sdkVersion } = req.headers
  const requestId = harmlessId.test(String(givenId)) ? String(givenId) : newRequestId()
  const open: WithContext = res
  open[contextKey] = {
    requestId,
    startedAtMs: performance.now(),
    legacyClient: legacyClient(sdkVersion?.toString()),
    caller: undefined,
    route: undefined,
    open: undefined,
    span: undefined,
    spanName: undefined,
  }
  res.setHeader('X-Request-Id', requestId)
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader('X-Frame-Options', 'DENY')
  res.setHeader('Referrer-Policy', 'no-referrer')
  res.setHeader('Cache-Control', 'no-store')
}

export function newRequestId(): string {
  return `req_${randomText(22)}`
}

export function contextOf(res: ServerResponse): RequestContext {
  const { [contextKey]: context } = res as WithContext
  if (!context) throw new Error('openContext must run before everything else')
  return context
}

export function callerOf(res: ServerResponse): Caller {
  const { caller } = contextOf(res)
  if (!caller) throw new Error('admit must run before the routes')
  return caller
}

/** Returns a signal that aborts if the client disconnects before its response is complete. */
export function whileOpen(res: ServerResponse): AbortSignal {
  const context = contextOf(res)
  if (context.open) return context.open
  const controller = new AbortController()
  if (res.closed) controller.abort()
  // A complete response needs no abort. An abort creates an error with a stack, which is expensive.
  res.once('close', () => {
    if (!res.writableFinished) controller.abort()
  })
  context.open = controller.signal
  return context.open
}

/**
 * Starts the span of an authenticated request, with the time at which it arrived. Requests without a valid key get no
 * span.
 * @param parent replaces the header `traceparent`.
 */
export function startRequestSpan(tracer: Tracer, res: ServerResponse, parent?: string): void {
  const context = contextOf(res)
  context.span = requestSpan(tracer, res, context.startedAtMs, parent)
}

function requestSpan(
  tracer: Tracer,
  { req }: ServerResponse,
  startedAtMs: number,
  parent: string | undefined,
): Span | undefined {
  const { method = '', headers } = req
  // Node joins repeated headers with this name, and a joined value is not a valid `traceparent`.
  const traceparent = parent ?? headers['traceparent']?.toString()
  const startedAt = performance.timeOrigin + startedAtMs
  return tracer.start(method, { traceparent, startedAt, role: 'server', attributes: { 'http.request.method': method } })
}

interface EndedRequest {
  requestId: string
  method: string
  route: string
  status: number
  /** False if the client disconnected before it had the whole response. */
  complete: boolean
  /** Undefined: method and route. */
  name: string | undefined
}

/** Names the span after the route's template, because span names must have few distinct values. */
export function endRequestSpan(span: Span, { requestId, method, route, status, complete, name }: EndedRequest): void {
  span.rename(name ?? `${method} ${route}`)
  span.set({ 'http.route': route, 'http.response.status_code': status, 'stet.request_id': requestId })
  if (status >= 500) span.end(String(status))
  else span.end(complete ? undefined : 'client_disconnected')
}
