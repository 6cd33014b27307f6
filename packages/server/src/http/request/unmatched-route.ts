/** The error of a request that matches no route: 405 for a known path, otherwise 404. */
import type { RequestHandler } from 'express'
import { refuse } from '../../shared/app-error.ts'

interface KnownRoute {
  method: string
  path: string
}

/** @param routes methods and paths with `:parameters`. */
export function unmatchedRoute(routes: readonly KnownRoute[]): RequestHandler {
  const known = routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }))
  return (req) => {
    const path = req.path
    const methods = new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))
    if (methods.size === 0) throw refuse('unknown-route', { method: req.method, path: req.baseUrl + path })
    if (methods.has('GET')) methods.add('HEAD')
    const allow = [...methods].sort()
    throw refuse('method-not-allowed', { method: req.method, allow })
  }
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : escapeRegExp(segment)))
  return new RegExp(`^${segments.join('/')}/?$`)
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
