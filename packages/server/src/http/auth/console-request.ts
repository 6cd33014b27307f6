/** Requests of the console: the only place that reads a cookie, and the only one that refuses forged requests. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request } from 'express'
import { verifySession } from '../../features/sessions/verify-session.ts'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { HttpDeps } from '../http-deps.ts'

/**
 * Returns the caller of a request without `Authorization`. All tabs of a browser share the cookie, so a page names its
 * author in `X-Stet-Author`: what it still has of one person is never saved in the name of the next.
 * @throws AppError UnauthorizedError for a forged request, without the cookie of an open session, and if the session is
 * another author's than the request names.
 */
export async function verifyConsoleRequest(deps: HttpDeps, req: Request): Promise<Caller> {
  refuseForgery(req)
  const token = await sessionTokenOf(deps, req)
  if (token === undefined) throw refuse('no-key')
  const caller = await verifySession(deps, { token, address: req.ip ?? '' })
  const { 'x-stet-author': expected } = req.headers
  if (expected !== undefined && expected !== String(caller.author.id)) throw refuse('other-person')
  return caller
}

/**
 * Pages of other sites cannot send the header without a preflight, which is never granted. Browsers do not send
 * `Sec-Fetch-Site` over plain http, except to loopback.
 * @throws AppError UnauthorizedError, as for a request without a cookie.
 */
export function refuseForgery({ headers }: Request): void {
  const { 'x-stet-console': mark, 'sec-fetch-site': site } = headers
  if (mark !== '1' || (site !== undefined && site !== 'same-origin')) throw refuse('no-key')
}

export async function sessionTokenOf(deps: HttpDeps, req: Request): Promise<string | undefined> {
  const { cookie } = req.headers
  if (cookie === undefined) return undefined
  const installation = await findInstallation(deps)
  if (installation === null) return undefined
  const name = sessionCookieName({ installation, isSecure: isSecure(deps.settings, req) })
  for (const pair of cookie.split(';')) {
    const [found, value] = pair.trim().split('=', 2)
    if (found === name) return value
  }
  return undefined
}

/** Returns null before the first sign-in, which creates the row. */
export function findInstallation({ liveCache, stores }: HttpDeps): Promise<string | null> {
  return liveCache.read('installation', 'uuid', () => stores.installations.findOptional())
}

/** Whether the browser uses https. A proxy that ends TLS says so with `X-Forwarded-Proto`, if it is trusted. */
export function isSecure({ publicUrl }: HttpDeps['settings'], req: Request): boolean {
  return publicUrl?.startsWith('https:') === true || req.secure
}

export interface CookiePlace {
  /** The uuid of the installation. */
  installation: string
  /** Whether the browser uses https. */
  isSecure: boolean
}

/**
 * Browsers share cookies between the ports of a host, so the name contains the installation. Over http, browsers refuse cookies that have the
 * prefix or `Secure`.
 */
function sessionCookieName({ installation, isSecure }: CookiePlace): string {
  return `${isSecure ? '__Host-' : ''}stet-${installation.slice(0, 6)}`
}

/** @param seconds how long the browser keeps the cookie; 0 removes it. */
export function sessionCookie(place: CookiePlace, token: string, seconds: number): string {
  const secure = place.isSecure ? '; Secure' : ''
  return `${sessionCookieName(place)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`
}

const allowedMethods = 'GET, POST, PUT, DELETE'
const allowedHeaders =
  'Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, X-Latitude-SDK-Version, X-Stet-SDK-Version, X-Retry-Count, X-Stet-Parameters, OpenAI-Organization, OpenAI-Project, OpenAI-Beta, X-Client-Request-Id, X-Stainless-Lang, X-Stainless-Package-Version, X-Stainless-OS, X-Stainless-Arch, X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Retry-Count, X-Stainless-Timeout, X-Stainless-Helper-Method, X-Stainless-Poll-Helper, X-Stainless-Custom-Poll-Interval, X-Stet-Project, MCP-Protocol-Version, Mcp-Method, Mcp-Name'
const exposedHeaders =
  'X-Request-Id, X-Conversation-Uuid, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotency-Replayed, X-Stet-Warning'

/** Allows only listed origins, without credentials. @returns true if it answered a preflight request. */
export function answersPreflight(allowed: ReadonlySet<string>, req: IncomingMessage, res: ServerResponse): boolean {
  const { origin } = req.headers
  res.setHeader('Vary', 'Origin')
  if (origin === undefined || !allowed.has(origin)) return false
  res.setHeader('Access-Control-Allow-Origin', origin)
  res.setHeader('Access-Control-Expose-Headers', exposedHeaders)
  if (req.method !== 'OPTIONS' || req.headers['access-control-request-method'] === undefined) return false
  res.setHeader('Access-Control-Allow-Methods', allowedMethods)
  res.setHeader('Access-Control-Allow-Headers', allowedHeaders)
  res.setHeader('Access-Control-Max-Age', '600')
  res.writeHead(204).end()
  return true
}
