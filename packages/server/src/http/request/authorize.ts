import type { RouteMetadata } from '@stet/contract'
import type { RequestHandler } from 'express'
import { requireScope, requireUnrestricted } from '../../features/access/scopes.ts'
import { matchedRoute } from '../mount.ts'
import { callerOf, contextOf } from './request-context.ts'

type Scope = Exclude<RouteMetadata['scope'], 'any' | readonly unknown[]>

/**
 * Requires the scope that the contract names, and keeps keys of one project away from what belongs to the workspace.
 * @throws AppError ForbiddenError.
 */
export const authorize: RequestHandler = (req, res, next) => {
  const { method, path, metadata } = matchedRoute(req)
  contextOf(res).route = path
  const caller = callerOf(res)
  const { scope } = metadata as RouteMetadata
  if (scope !== 'any') requireScope(caller, scopeList(scope))
  if (belongsToWorkspace(method, path)) requireUnrestricted(caller)
  next()
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
