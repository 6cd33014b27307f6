import type { RouteMetadata } from '@stet/contract'
import type { RequestHandler } from 'express'
import type { Caller } from '../../features/access/caller.ts'
import { requireScope, requireUnrestricted } from '../../features/access/caller.ts'
import { type MatchedRoute, matchedRoute } from '../mount.ts'
import { callerOf, contextOf } from './request-context.ts'

type Scope = Exclude<RouteMetadata['scope'], 'any' | readonly unknown[]>

/** The check of `authoriseRoute` for the route that was matched. */
export const authorise: RequestHandler = (req, res, next) => {
  const route = matchedRoute(req)
  contextOf(res).route = route.path
  authoriseRoute(route, callerOf(res))
  next()
}

/**
 * Asks for the scope that the contract names, and keeps keys of one project away from what belongs to the workspace.
 * @throws AppError ForbiddenError.
 */
export function authoriseRoute(route: MatchedRoute, caller: Caller): void {
  const { scope } = route.metadata as RouteMetadata
  if (scope !== 'any') requireScope(caller, scopeList(scope))
  if (belongsToWorkspace(route.method, route.path)) requireUnrestricted(caller)
}

function scopeList(scope: Scope | readonly Scope[]): readonly [Scope, ...Scope[]] {
  if (typeof scope === 'string') return [scope]
  const [first, ...rest] = scope
  if (first === undefined) throw new Error('A route must name at least one scope')
  return [first, ...rest]
}

function belongsToWorkspace(method: string, path: string): boolean {
  return /^\/(provider-api-keys|api-keys)(\/|$)/.test(path) || (method === 'POST' && path === '/projects')
}
