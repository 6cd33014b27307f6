import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type OperatorRouteName, operatorRoutes } from '@stet/contract'
import { type Request, type Response, Router } from 'express'
import { refuse } from '../../shared/app-error.ts'
import { bearerToken } from '../auth/admit.ts'
import { contextOf } from '../auth/request-context.ts'
import type { HttpDeps } from '../http-deps.ts'
import { unmatchedRoute } from '../mount.ts'
import { writeBody } from '../raw-response.ts'
import { createReference, errorsPagePath, type Reference, referencePolicy, referenceScriptPath } from './reference.ts'

type Answer = (req: Request, res: Response) => void | Promise<void>

export function operations(deps: HttpDeps): Router {
  const router = Router({ caseSensitive: true })
  const reference = createReference(deps.settings.packageRoot)
  const answers = operationAnswers(deps, reference)
  const named = Object.entries(operatorRoutes).map(([name, { path }]): [string, Answer] => [
    path,
    answers[name as OperatorRouteName],
  ])
  // Reached only without the console, whose page is at the root.
  router.get('/', (_req, res) => res.redirect(operatorRoutes.docs.path))
  // These are parts of the page, and not in the contract.
  const parts: [string, Answer][] = [
    [referenceScriptPath, scriptAnswer(reference)],
    [errorsPagePath, (req, res) => reference.errors.send(req, res)],
  ]
  for (const [path, answer] of [...named, ...parts]) {
    router.use(path, (req, res, next) => {
      if (req.baseUrl === path) contextOf(res).route = path
      next()
    })
    router.get(path, answer)
    router.all(path, unmatchedRoute([{ method: 'GET', path }]))
  }
  return router
}

function operationAnswers(
  { settings, readiness, metrics }: HttpDeps,
  reference: Reference,
): Record<OperatorRouteName, Answer> {
  return {
    health(_req, res) {
      res.json({ status: 'ok', version: settings.version, features: settings.features })
    },
    async ready(_req, res) {
      const checks = await readiness()
      if (Object.values(checks).every(Boolean)) res.json({ status: 'ready' })
      else throw refuse('not-ready', { checks })
    },
    async metrics(req, res) {
      const { authorization } = req.headers
      const isLocal = isLoopback(req.socket.remoteAddress) && !isForwarded(req)
      permitMetrics(settings.metricsToken, bearerToken(authorization), isLocal)
      res.setHeader('Content-Type', metrics.contentType)
      writeBody(res, await metrics.text())
    },
    openapi: (req, res) => reference.openapi.send(req, res),
    llms: (req, res) => reference.llms.send(req, res),
    docs(req, res) {
      res.setHeader('Content-Security-Policy', referencePolicy)
      reference.page.send(req, res)
    },
  }
}

function scriptAnswer({ script }: Reference): Answer {
  return (req, res) => {
    // The page requests the script by its hash.
    if (req.query['v'] !== undefined) res.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
    script.send(req, res)
  }
}

const forwardingHeader =
  /^(x-(?!prometheus-)|cf-|fly-|fastly-|akamai-|cdn-|do-|true-client|proxy-)|(^|[-_])(forwarded|via|ip)([-_]|$)|^x_/
const localHost = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i

/**
 * Whether a request shows that it came through a proxy, so that its client may be remote. A proxy on this machine that adds
 * no header and sends a loopback host, such as nginx 1.30 by default, cannot be told from a local client.
 */
export function isForwarded({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  if (httpVersion === '1.0' || !localHost.test(headers.host ?? '')) return true
  return Object.keys(headers).some((name) => forwardingHeader.test(name))
}

/**
 * @throws AppError UnauthorizedError for a missing or wrong token; ForbiddenError for a remote client if no token is
 * configured.
 */
export function permitMetrics(configured: string | undefined, given: string | undefined, isLocal: boolean): void {
  if (configured === undefined) {
    if (isLocal) return
    throw refuse('metrics-loopback-only')
  }
  if (given === undefined) throw refuse('no-key')
  // `timingSafeEqual` requires buffers of the same length, so both tokens are hashed.
  const [wanted, actual] = [hash('sha256', configured, 'buffer'), hash('sha256', given, 'buffer')]
  if (!timingSafeEqual(wanted, actual)) throw refuse('wrong-metrics-token')
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::ffff:)?127\.|^::1$/.test(address)
}
