/** `/mcp`: what a request must fulfil before the SDK sees it, and how its answer is sent. */
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { isObject } from '@stet/template/parameters'
import { type Request as ExpressRequest, type Response as ExpressResponse, type RequestHandler, Router } from 'express'
import { AppError, refuse } from '../../shared/app-error.ts'
import { noTracer, type SpanAttributes } from '../../shared/telemetry.ts'
import { admit } from '../auth/admit.ts'
import { callerOf, contextOf, startRequestSpan, whileOpen } from '../auth/request-context.ts'
import { readJsonBody } from '../body/read-body.ts'
import type { HttpDeps } from '../http-deps.ts'
import { unmatchedRoute } from '../mount.ts'
import { type StreamLimit, spendBytes } from '../rate-limit/rate-limit.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { writeBody } from '../raw-response.ts'
import { projectOfConnection } from './call.ts'
import type { McpHandler } from './server.ts'

const path = '/mcp'

interface Limits {
  unread: UnreadBudget
  streams: StreamLimit
}

/** Serves MCP over HTTP. The SDK is loaded by the first admitted request. */
export function mcpEndpoint(deps: HttpDeps, limits: Limits): Router {
  const router = Router({ caseSensitive: true })
  let handler: Promise<McpHandler> | undefined
  const load = () => {
    handler ??= import('./server.ts').then(({ createHandler }) => createHandler(deps))
    return handler
  }
  router.post(path, named, refuseOrigin(deps), requireKey, admit(deps), async (req, res) => {
    await answer(deps, limits, await load(), { req, res })
  })
  router.all(path, named, unmatchedRoute([{ method: 'POST', path }]))
  // Clients look here after a 401. Without this route they get the console's page.
  router.all(/^\/\.well-known\/oauth-/, unmatchedRoute([]))
  return router
}

const named: RequestHandler = (_req, res, next) => {
  contextOf(res).route = path
  next()
}

/** Protects servers on a private network from pages that have rebound their DNS name. Runs before the key is checked. */
function refuseOrigin({ settings }: HttpDeps): RequestHandler {
  const allowed = new Set(settings.corsOrigins)
  if (settings.publicUrl !== undefined) allowed.add(new URL(settings.publicUrl).origin)
  return (req, res, next) => {
    const { origin } = req.headers
    if (origin === undefined || allowed.has(origin)) next()
    else refuseMessage(res, 403, -32_000, 'Origin not allowed')
  }
}

/** A session of the console must not reach tools, so its cookie does not count. */
const requireKey: RequestHandler = ({ headers }, _res, next) => {
  if (headers.authorization === undefined) throw refuse('no-key')
  next()
}

function refuseMessage(res: ExpressResponse, status: number, code: number, message: string): void {
  res.status(status).json({ jsonrpc: '2.0', id: null, error: { code, message } })
}

interface Exchange {
  req: ExpressRequest
  res: ExpressResponse
}

async function answer(deps: HttpDeps, limits: Limits, handler: McpHandler, { req, res }: Exchange): Promise<void> {
  const caller = callerOf(res)
  const body = await readMessage(deps, { req, res })
  if (body === undefined) return
  // A batch would count as one request of the rate limit.
  if (Array.isArray(body)) return refuseMessage(res, 400, -32_600, 'Batches are not supported')
  const { method } = body
  const signal = whileOpen(res)
  trace(deps, { req, res }, body)
  const project = await projectOfConnection(deps, caller, headerText(req.headers, 'x-stet-project'))
  if (method === 'tools/call') {
    // Its answer may become a stream after the run has begun, too late for a refusal.
    limits.streams.enter(caller, res)
    deps.drain.followRun(res)
  }
  const { requestId, span } = contextOf(res)
  const traceAs = (name: string, attributes: SpanAttributes) => {
    contextOf(res).spanName = `${String(method)} ${name}`
    span?.set(attributes)
  }
  const reserve = () => limits.unread.reserve(res, caller.apiKeyId)
  const call = { caller, project, signal, span, traceAs, reserve, requestId }
  await send(await handler.answer(webRequest(req, signal), body, call), { res, signal, unread: limits.unread })
}

/** Returns undefined if the body was refused. @throws AppError for a body that is too large, and above a limit. */
async function readMessage(
  deps: HttpDeps,
  { req, res }: Exchange,
): Promise<unknown[] | Record<string, unknown> | undefined> {
  const spend = (bytes: number) => spendBytes(deps, callerOf(res), bytes)
  let body: unknown
  try {
    body = await readJsonBody(req, deps.settings.bodyLimitBytes, spend)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'BadRequestError' && req.complete)) throw error
    refuseMessage(res, 400, error.reason === 'malformed-json' ? -32_700 : -32_600, error.message)
    return undefined
  }
  if (!deps.place.isConfirmed() && !(await deps.place.confirm())) throw refuse('database-unavailable')
  if (Array.isArray(body) || isObject(body)) return body
  refuseMessage(res, 400, -32_600, 'The body must be a JSON-RPC message')
  return undefined
}

const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
const versionForm = /^\d{4}-\d\d-\d\d$/
const knownMethods = new Set(
  (
    'initialize ping tools/list tools/call prompts/list prompts/get resources/list resources/templates/list ' +
    'resources/read server/discover notifications/initialized notifications/cancelled'
  ).split(' '),
)

/** Starts the span of the request. Its name has few values, so it contains no method that does not exist. */
function trace({ tracer }: HttpDeps, { req, res }: Exchange, { method, params }: Record<string, unknown>): void {
  if (tracer === noTracer || typeof method !== 'string') return
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {}
  const { traceparent } = meta
  const isParent = typeof traceparent === 'string' && traceparentForm.test(traceparent)
  const context = contextOf(res)
  startRequestSpan(tracer, res, isParent ? traceparent : undefined)
  context.spanName = knownMethods.has(method) ? method : 'mcp'
  const version = headerText(req.headers, 'mcp-protocol-version') ?? (isObject(params) && params['protocolVersion'])
  context.span?.set({
    'mcp.method.name': knownMethods.has(method) ? method : undefined,
    'mcp.protocol.version': typeof version === 'string' && versionForm.test(version) ? version : undefined,
  })
}

function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const text = headers[name]?.toString().trim()
  if (text === undefined || text === '') return undefined
  // Headers hold only ASCII. The bridge encodes other names as MCP does.
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(text) ?? []
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString()
}

/** Passes on all headers, because the SDK compares some with the body. */
function webRequest(req: ExpressRequest, signal: AbortSignal): Request {
  const headers = Object.entries(req.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value.toString()]],
  )
  return new Request(`http://localhost${path}`, { method: 'POST', headers, signal })
}

interface Sending {
  res: ExpressResponse
  signal: AbortSignal
  unread: UnreadBudget
}

async function send(response: Response, { res, signal, unread }: Sending): Promise<void> {
  if (res.closed) return void response.body?.cancel().catch(() => undefined)
  res.status(response.status)
  for (const [name, value] of response.headers) if (name !== 'connection') res.setHeader(name, value)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!response.body) return void res.end()
  if (!isStream) {
    const bytes = Buffer.from(await response.arrayBuffer())
    // Replaces the reservation, if there is one.
    unread.hold(res, bytes.length)
    return writeBody(res, bytes)
  }
  res.setHeader('Cache-Control', 'no-cache, no-transform')
  res.setHeader('X-Accel-Buffering', 'no')
  res.flushHeaders()
  await sendStream(response.body, { res, signal, unread })
}

/** Ends the SDK's stream when the client disconnects, because no reader is left. */
async function sendStream(body: ReadableStream<Uint8Array>, { res, signal, unread }: Sending): Promise<void> {
  // A reset connection can emit an error. Without a listener, the error would end the process.
  res.on('error', () => undefined)
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', leave, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) break
      unread.hold(res, value.byteLength)
      if (!res.write(value)) await once(res, 'drain', { signal })
    }
    res.end()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
