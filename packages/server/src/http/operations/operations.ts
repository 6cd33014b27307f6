/** The routes outside the API prefix: health, readiness, figures, the API description and its reference page. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Router } from 'express'
import { AppError } from '../../shared/app-error.ts'
import type { HttpDeps } from '../http-deps.ts'
import { bearerToken } from '../request/authenticate.ts'
import { contextOf } from '../request/request-context.ts'
import { unmatchedRoute } from '../request/unmatched-route.ts'
import { renderMetrics } from './metric.ts'
import { openApiText, referencePage } from './reference.ts'
import type { RequestFigures } from './request-figures.ts'

const paths = ['/health', '/ready', '/metrics', '/openapi.json', '/docs']

export function operations(deps: HttpDeps, figures: RequestFigures): Router {
  const router = Router({ caseSensitive: true })
  const { settings } = deps

  router.use(paths, (req, res, next) => {
    if (paths.includes(req.baseUrl)) contextOf(res).route = req.baseUrl
    next()
  })
  router.get('/health', (_req, res) => {
    res.json({ status: 'ok', version: settings.version, features: settings.features })
  })
  router.get('/ready', async (_req, res) => {
    const checks = await deps.readiness()
    if (Object.values(checks).every(Boolean)) res.json({ status: 'ready' })
    else throw new AppError('ServiceUnavailableError', 'Not ready', { details: { checks } })
  })
  router.get('/metrics', (req, res) => {
    const { authorization, 'x-forwarded-for': forwarded } = req.headers
    const isLocal = isLoopback(req.socket.remoteAddress) && forwarded === undefined
    permitMetrics(settings.metricsToken, bearerToken(authorization), isLocal)
    res.type('text/plain; version=0.0.4; charset=utf-8').send(renderMetrics([...figures.metrics(), ...deps.metrics()]))
  })
  router.get('/openapi.json', (_req, res) => {
    res.type('application/json').send(openApiText())
  })
  router.get('/docs', (_req, res) => {
    const page = referencePage()
    res.setHeader('Content-Security-Policy', page.contentSecurityPolicy)
    res.type('text/html').send(page.html)
  })
  for (const path of paths) router.all(path, unmatchedRoute([{ method: 'GET', path }]))
  return router
}

/** @throws AppError UnauthorizedError (a token is configured), ForbiddenError (none is, and the caller is elsewhere). */
export function permitMetrics(configured: string | undefined, given: string | undefined, isLocal: boolean): void {
  if (configured === undefined) {
    if (isLocal) return
    throw new AppError('ForbiddenError', 'Metrics are served on loopback only, unless a token is configured')
  }
  if (given === undefined) throw new AppError('UnauthorizedError', 'Authorization token required')
  if (!timingSafeEqual(digest(configured), digest(given))) {
    throw new AppError('UnauthorizedError', 'Invalid authorization token')
  }
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::ffff:)?127\.|^::1$/.test(address)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
