/** Requests of the console: the only place that reads a cookie, and the only one that refuses forged requests. */
import type { Request } from 'express'
import { verifySession } from '../../features/sessions/verify-session.ts'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { sessionCookieName } from '../console/session-cookie.ts'
import type { HttpDeps } from '../http-deps.ts'

/**
 * Returns the caller of a request without `Authorization`.
 * @throws AppError UnauthorizedError for a forged request, and without the cookie of an open session.
 */
export async function verifyConsoleRequest(deps: HttpDeps, req: Request): Promise<Caller> {
  refuseForgery(req)
  const token = await sessionTokenOf(deps, req)
  if (token === undefined) throw refuse('no-key')
  return verifySession(deps, { token, address: req.ip ?? '' })
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
