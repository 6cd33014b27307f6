/** The context of one request in addition to its input: id, caller, legacy client, route. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SpentPoint } from '../../features/access/ports.ts'
import type { Caller } from '../../shared/caller.ts'
import { randomText } from '../../shared/random-text.ts'
import { type ClientGeneration, clientGeneration } from '../../wire/legacy-clients.ts'

export interface RequestContext {
  requestId: string
  /** By `performance.now()`. */
  startedAtMs: number
  client: ClientGeneration
  /** Set by authentication. */
  caller: Caller | undefined
  /** The rate-limit points that the request consumed: once, on every path. */
  point: SpentPoint | undefined
  /** The contract's path, e.g. `/projects/:projectId`; set once a route matched. */
  route: string | undefined
  /** The response cache's place for the response, taken before the key is checked. */
  cachePlace: { id: string; scope: string; drops: number } | undefined
  /** See `whileOpen`. */
  open: AbortSignal | undefined
}

// On the response itself: a weak map of many short-lived keys is work for every collection of garbage.
const contextKey = Symbol('request context')
type WithContext = ServerResponse & { [contextKey]?: RequestContext }

const harmlessId = /^[A-Za-z0-9._-]{1,128}$/

/** First of all: the id and the headers that every response carries. */
export function openContext(req: IncomingMessage, res: ServerResponse): void {
  // Node joins repeated headers of these names into one text; only its types allow lists.
  const { 'x-request-id': givenId = '', 'x-latitude-sdk-version': sdkVersion } = req.headers
  const requestId = harmlessId.test(String(givenId)) ? String(givenId) : newRequestId()
  const open: WithContext = res
  open[contextKey] = {
    requestId,
    startedAtMs: performance.now(),
    client: clientGeneration(sdkVersion?.toString()),
    caller: undefined,
    point: undefined,
    route: undefined,
    cachePlace: undefined,
    open: undefined,
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

/** The caller of an authenticated route. */
export function callerOf(res: ServerResponse): Caller {
  const { caller } = contextOf(res)
  if (!caller) throw new Error('admit must run before the routes')
  return caller
}

/** Aborted when the caller leaves before its answer: a waiting caller is a listener like any other. */
export function whileOpen(res: ServerResponse): AbortSignal {
  const context = contextOf(res)
  if (context.open) return context.open
  const controller = new AbortController()
  if (res.closed) controller.abort()
  // Not after the answer: an abort makes an error with its stack, which costs more than the rest.
  res.once('close', () => {
    if (!res.writableFinished) controller.abort()
  })
  context.open = controller.signal
  return context.open
}
