/** Mounts the contract's routes with their handlers. Only this file imports @ts-rest/express. */
import type { RouteMetadata } from '@stet/contract'
import type { AppRouter } from '@ts-rest/core'
import { createExpressEndpoints } from '@ts-rest/express'
import type { Request, RequestHandler, Router } from 'express'
import { z } from 'zod'
import { refuse } from '../shared/app-error.ts'
import { checkedInput, invalidRequest, type RequestIssue } from './body/check-input.ts'

export type Routes<T extends AppRouter> = Parameters<typeof createExpressEndpoints<T>>[1]

export function mountContract<T extends AppRouter>(options: {
  contract: T
  routes: Routes<T>
  router: Router
  /** Middleware for matched routes. It runs before validation and can call `matchedRoute`. */
  before: RequestHandler[]
  validateResponses: boolean
}): void {
  // These options replace the defaults of ts-rest as a whole, so no default applies.
  createExpressEndpoints(withCheckedInput(options.contract), options.routes, options.router, {
    logInitialization: false,
    jsonQuery: false,
    responseValidation: options.validateResponses,
    globalMiddleware: options.before as never[],
    requestValidationErrorHandler: (error, _req, _res, next) => {
      // All schemas come from zod, so their issues have the fields of `RequestIssue`.
      const parts = [error.pathParams, error.query, error.headers, error.body]
      const issues = parts.flatMap((part) => (part ? (part.issues as readonly RequestIssue[]) : []))
      next(invalidRequest(error.query ? 'invalid-query' : 'invalid-body', issues))
    },
  })
}

// The cast is safe, because checked input accepts and returns the same values as its schema.
function withCheckedInput<T extends AppRouter>(contract: T): T {
  const entries = Object.entries(contract).map(([name, entry]) => {
    if (!('method' in entry)) return [name, withCheckedInput(entry)]
    const schemas = { query: entry.query, body: 'body' in entry ? entry.body : undefined }
    const checked = Object.entries(schemas).flatMap(([part, schema]) =>
      schema instanceof z.ZodType ? [[part, checkedInput(schema)]] : [],
    )
    return [name, { ...entry, ...Object.fromEntries(checked) }]
  })
  return Object.fromEntries(entries) as T
}

export function matchedRoute(req: Request): MatchedRoute {
  const { tsRestRoute } = req as Request & { tsRestRoute?: MatchedRoute }
  if (!tsRestRoute) throw new Error('Only a matched route has a description')
  return tsRestRoute
}

export interface MatchedRoute {
  method: string
  path: string
  metadata: RouteMetadata
}

/** The handler throws a 405 error for a known path, otherwise a 404. @param routes paths may have `:parameters`, and `*parameters` with slashes. */
export function unmatchedRoute(routes: readonly Pick<MatchedRoute, 'method' | 'path'>[]): RequestHandler {
  const known = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+').replace(/\*\w+/g, '.+')}/?$`),
  }))
  return (req) => {
    const path = req.path
    const methods = new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))
    if (methods.size === 0) throw refuse('unknown-route', { method: req.method, path: req.baseUrl + path })
    if (methods.has('GET')) methods.add('HEAD')
    const allow = [...methods].sort()
    throw refuse('method-not-allowed', { method: req.method, allow })
  }
}
