import { API_PREFIX, isRefusedWhenFull, readsBody } from '@stet/contract'
import type { KeyScope } from '@stet/contract/vocabulary'
import type { RequestHandler } from 'express'
import { requireScope, requireUnrestricted } from '../../features/access/api-key.ts'
import { rateLimited, verifyApiKey } from '../../features/access/verify-api-key.ts'
import { refuse } from '../../shared/app-error.ts'
import { noTracer } from '../../shared/telemetry.ts'
import { encodeDocumentPathTail } from '../body/address.ts'
import { refuseQuery } from '../body/check-input.ts'
import { readJsonBody, shortBodyBytes } from '../body/read-body.ts'
import type { HttpDeps, Place } from '../http-deps.ts'
import { matchedRoute } from '../mount.ts'
import { spendBytes, spendPoint } from '../rate-limit/rate-limit.ts'
import { refuseForgery, verifyConsoleRequest } from './console-request.ts'
import { callerOf, contextOf, startRequestSpan } from './request-context.ts'

const tracedPrefixes: ReadonlySet<string> = new Set([API_PREFIX, '/v1'])

/**
 * Runs before routing. Checks in this order: the server is not stopping, its database is available, the key or the
 * session is valid, its rate limit is not exceeded, the path is well-formed. Reads the cache only after the drops of other servers.
 */
export function admit(deps: HttpDeps): RequestHandler {
  return async (req, res, next) => {
    if (deps.drain.isRefusing) throw refuse('server-stopping')
    if (!deps.place.isConfirmed()) await requirePlace(deps.place)
    if (deps.liveCache.sync) await deps.liveCache.sync()
    const { authorization } = req.headers
    const caller =
      authorization === undefined && deps.settings.console
        ? await verifyConsoleRequest(deps, req)
        : await verifyApiKey(deps, {
            token: bearerToken(authorization),
            // A function, because computing the address takes longer than finding the key and only failures need it.
            address: () => req.ip ?? '',
          })
    contextOf(res).caller = caller
    if (deps.tracer !== noTracer && tracedPrefixes.has(req.baseUrl)) startRequestSpan(deps.tracer, res)
    const point = await spendPoint(deps, res)
    if (!point.allowed) throw rateLimited(point, caller.limit, deps.clock.now())
    req.url = encodeDocumentPathTail(req.method, req.url)
    next()
  }
}

/** Like `admit`, for a route of the console that needs neither a key nor a session. */
export function admitPublic(deps: HttpDeps): RequestHandler {
  return async (req, _res, next) => {
    if (deps.drain.isRefusing) throw refuse('server-stopping')
    if (!deps.place.isConfirmed()) await requirePlace(deps.place)
    if (deps.liveCache.sync) await deps.liveCache.sync()
    refuseForgery(req)
    next()
  }
}

/** Runs after routing. Checks the key's permissions first, so that a refused request's body is never parsed. */
export function admitToRoute(deps: HttpDeps): RequestHandler {
  const { place, settings, storage } = deps
  return async (req, res, next) => {
    const route = matchedRoute(req)
    contextOf(res).route = route.path
    const { scope, ignoresBody, refusesRestrictedKeys } = route.metadata
    if (scope !== 'any') requireScope(callerOf(res), [scope].flat() as [KeyScope, ...KeyScope[]])
    if (refusesRestrictedKeys) requireUnrestricted(callerOf(res))
    refuseQuery(req.query)
    const filled = storage && isRefusedWhenFull(route, route.metadata) ? storage.use : undefined
    filled?.requireRoom(callerOf(res).workspaceId)
    if (ignoresBody) req.body = {}
    else if (readsBody(req, route.metadata)) {
      const spend = (bytes: number) => spendBytes(deps, callerOf(res), bytes, filled)
      req.body = await readJsonBody(req, settings.bodyLimitBytes, spend)
      filled?.add(callerOf(res).workspaceId, shortBodyBytes(req))
    }
    // Checked again: receiving a body can take 30 seconds, and the server can lose its database lock in that time.
    if (!place.isConfirmed()) await requirePlace(place)
    next()
  }
}

/** For another scheme, returns the complete header. This text contains a space, so it is never a valid key. */
export function bearerToken(header: string | undefined): string | undefined {
  const trimmed = header?.trim()
  if (trimmed === undefined || trimmed === '') return undefined
  const space = trimmed.search(/\s/)
  if (space === -1) return undefined
  return trimmed.slice(0, space).toLowerCase() === 'bearer' ? trimmed.slice(space).trimStart() : trimmed
}

async function requirePlace(place: Place): Promise<void> {
  if (!(await place.confirm())) throw refuse('database-unavailable')
}
