/** Assembles the request pipeline. Its order decides which error a request gets if several checks would fail. */
import type { RequestListener, ServerResponse } from 'node:http'
import { API_PREFIX, consoleContract, contract } from '@stet/contract'
import express, { type Express, type RequestHandler, Router } from 'express'
import { admit, admitPublic, admitToRoute } from './auth/admit.ts'
import { answersPreflight } from './auth/console-request.ts'
import { contextOf, endRequestSpan, openContext } from './auth/request-context.ts'
import { originForm } from './body/address.ts'
import { errorHandler, nameConversation } from './body/error-response.ts'
import { readConsoleBuild, serveConsole } from './console/page.ts'
import type { HttpDeps } from './http-deps.ts'
import { mcpEndpoint } from './mcp/endpoint.ts'
import { matchedRoute, mountContract, unmatchedRoute } from './mount.ts'
import { doorPrefix, openaiDoor } from './openai/routes.ts'
import { operations } from './operations/operations.ts'
import { StreamLimit } from './rate-limit/rate-limit.ts'
import { UnreadBudget } from './rate-limit/unread-budget.ts'
import { writeJson } from './raw-response.ts'
import { apiKeyRoutes } from './routes/api-keys.ts'
import { consoleRoutes } from './routes/console.ts'
import { conversationRoutes, runRecordRoutes } from './routes/conversations.ts'
import { documentRoutes } from './routes/documents.ts'
import { environmentRoutes } from './routes/environments.ts'
import { evaluationRoutes } from './routes/evaluations.ts'
import { exampleRoutes } from './routes/examples.ts'
import { experimentRoutes } from './routes/experiments.ts'
import { externalLogRoutes } from './routes/external-logs.ts'
import { projectRoutes } from './routes/projects.ts'
import { providerKeyRoutes, providerRoutes } from './routes/provider-api-keys.ts'
import { runRoutes, toolRoutes } from './routes/runs.ts'
import { versionRoutes } from './routes/versions.ts'

export function createApp(deps: HttpDeps): RequestListener {
  const { drain, settings, metrics, logger } = deps
  const unread = new UnreadBudget(settings.unread)
  const app = expressApp(deps, unread)
  const corsOrigins = new Set(settings.corsOrigins)
  // Listens to `close`, which follows a sent response or a closed connection. All responses share this function.
  function closed(this: ServerResponse): void {
    drain.leave(this)
    unread.leave(this)
    const { requestId, startedAtMs, route = 'none', caller, span, spanName } = contextOf(this)
    const { method = '' } = this.req
    const status = this.statusCode
    const durationMs = Math.round((performance.now() - startedAtMs) * 1000) / 1000
    metrics.requestEnded({ method, route, status, seconds: durationMs / 1000 })
    const complete = this.writableFinished
    const apiKeyId = caller?.apiKeyId
    logger.info('http.request', { requestId, method, route, status, durationMs, complete, apiKeyId, ...span?.ids })
    if (span) endRequestSpan(span, { requestId, method, route, status, complete, name: spanName })
  }
  let isProxyUnknown = settings.trustProxy === 0
  return (req, res) => {
    if (req.url?.startsWith('/') === false) req.url = originForm(req.url)
    // Behind a proxy, all clients then share one address, and with it the limit of failed authentications.
    if (isProxyUnknown && 'x-forwarded-for' in req.headers) {
      isProxyUnknown = false
      logger.warn('server.proxy-not-trusted', { advice: 'set STET_TRUST_PROXY to the number of proxies' })
    }
    openContext(req, res)
    drain.enter(res)
    unread.enter(res)
    res.on('close', closed)
    if (corsOrigins.size > 0 && answersPreflight(corsOrigins, req, res)) return
    app(req, res)
  }
}

function expressApp(deps: HttpDeps, unread: UnreadBudget): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.set('query parser', 'simple').set('case sensitive routing', true).set('trust proxy', deps.settings.trustProxy)
  app.response.json = writeJson
  const streams = new StreamLimit(deps.settings.maxStreamsPerKey)
  app.use(API_PREFIX, admit(deps), api(deps, unread, streams))
  if (deps.settings.openaiApi) app.use(doorPrefix, openaiDoor(deps, { unread, streams }))
  if (deps.settings.mcp) app.use(mcpEndpoint(deps, { unread, streams }))
  if (deps.settings.console) app.use(consoleApi(deps))
  const build = deps.settings.console ? readConsoleBuild(deps.settings.packageRoot) : undefined
  if (build) app.use(serveConsole(build, deps.settings.publicUrl))
  else if (deps.settings.console) deps.logger.warn('console.not-built', { advice: 'run: pnpm build' })
  app.use(operations(deps))
  app.use(unmatchedRoute([]))
  app.use(errorHandler(deps.logger))
  return app
}

function api(deps: HttpDeps, unread: UnreadBudget, streams: StreamLimit): Router {
  const router = Router({ caseSensitive: true })
  const routes = {
    apiKeys: apiKeyRoutes(deps),
    projects: projectRoutes(deps),
    versions: versionRoutes(deps, unread),
    environments: environmentRoutes(deps),
    documents: documentRoutes(deps, unread),
    runs: runRoutes(deps, unread, streams),
    conversations: conversationRoutes(deps, unread),
    runRecords: runRecordRoutes(deps, unread),
    tools: toolRoutes(deps),
    evaluations: evaluationRoutes(deps, unread),
    examples: exampleRoutes(deps, unread),
    experiments: experimentRoutes(deps, unread),
    logs: externalLogRoutes(deps),
    providerApiKeys: providerKeyRoutes(deps),
    providers: providerRoutes(deps),
  }
  const { validateResponses } = deps.settings
  mountContract({ contract, routes, router, before: [admitToRoute(deps)], validateResponses })
  router.use(nameConversation(deps))
  router.use(unmatchedRoute(Object.values(contract).flatMap((group) => Object.values(group))))
  return router
}

/** Sign-in needs no authentication, so console bodies have a much lower limit. */
const consoleBodyBytes = 16_384

function consoleApi(deps: HttpDeps): Router {
  const router = Router({ caseSensitive: true })
  const [admitted, admittedPublic] = [admit(deps), admitPublic(deps)]
  const admitConsole: RequestHandler = (req, res, next) => {
    const admission = matchedRoute(req).metadata.isPublic ? admittedPublic : admitted
    return admission(req, res, next)
  }
  const toRoute = admitToRoute({ ...deps, settings: { ...deps.settings, bodyLimitBytes: consoleBodyBytes } })
  mountContract({
    contract: consoleContract,
    routes: { console: consoleRoutes(deps) },
    router,
    before: [admitConsole, toRoute],
    validateResponses: deps.settings.validateResponses,
  })
  const routes = Object.values(consoleContract.console)
  router.all(
    routes.map(({ path }) => path),
    unmatchedRoute(routes),
  )
  return router
}
