/** The span of an API request, following OpenTelemetry's conventions for HTTP servers. */
import type { IncomingMessage } from 'node:http'
import type { Span, Tracer } from '../../shared/tracer.ts'

export function startRequestSpan(tracer: Tracer, { method = '', headers }: IncomingMessage): Span | undefined {
  // Node joins repeated headers with this name, and a joined value is not a valid `traceparent`.
  const traceparent = headers['traceparent']?.toString()
  return tracer.start(method, traceparent, 'server', { 'http.request.method': method })
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
