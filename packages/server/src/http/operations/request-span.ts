/** The span of an API request, following OpenTelemetry's conventions for HTTP servers. */
import type { ServerResponse } from 'node:http'
import type { Caller } from '../../shared/caller.ts'
import { noTracer, type Span, type Tracer } from '../../shared/tracer.ts'
import { contextOf } from '../auth/request-context.ts'

/**
 * Sets the authenticated caller. A request to the API gets its span here, with the time at which it arrived, so that
 * requests without a valid key cost no spans.
 */
export function setCaller(tracer: Tracer, res: ServerResponse, caller: Caller, isTraced: boolean): void {
  const context = contextOf(res)
  context.caller = caller
  if (isTraced && tracer !== noTracer) context.span ??= startRequestSpan(tracer, res, context.startedAtMs)
}

function startRequestSpan(tracer: Tracer, { req }: ServerResponse, startedAtMs: number): Span | undefined {
  const { method = '', headers } = req
  // Node joins repeated headers with this name, and a joined value is not a valid `traceparent`.
  const traceparent = headers['traceparent']?.toString()
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
}

/** Names the span after the route's template, because span names must have few distinct values. */
export function endRequestSpan(span: Span, { requestId, method, route, status, complete }: EndedRequest): void {
  span.rename(`${method} ${route}`)
  span.set({ 'http.route': route, 'http.response.status_code': status, 'stet.request_id': requestId })
  if (status >= 500) span.end(String(status))
  else span.end(complete ? undefined : 'client_disconnected')
}
