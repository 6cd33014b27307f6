/** The front door: the order of its middlewares is the order of checks that api.md section 1 promises. */
import { API_PREFIX, contract } from '@stet/contract'
import express, { type Express, Router } from 'express'
import type { HttpDeps } from './http-deps.ts'
import { encodeDocumentPathTail } from './input/document-path-tail.ts'
import { readInput } from './input/read-input.ts'
import { mountContract, type Routes } from './mount.ts'
import { operations } from './operations/operations.ts'
import { RequestFigures } from './operations/request-figures.ts'
import { authenticate } from './request/authenticate.ts'
import { authorise } from './request/authorise.ts'
import { cors } from './request/cors.ts'
import { rateLimit } from './request/rate-limit.ts'
import { requestContext } from './request/request-context.ts'
import { unmatchedRoute } from './request/unmatched-route.ts'
import { errorHandler } from './response/error-response.ts'
import { onlyOnce } from './response/only-once.ts'
import { apiKeyRoutes } from './routes/api-keys.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { documentRoutes } from './routes/documents.ts'
import { evaluationRoutes } from './routes/evaluations.ts'
import { logRoutes } from './routes/logs.ts'
import { projectRoutes } from './routes/projects.ts'
import { providerKeyRoutes } from './routes/provider-api-keys.ts'
import { runRoutes } from './routes/runs.ts'
import { toolRoutes } from './routes/tools.ts'
import { versionRoutes } from './routes/versions.ts'

export function createApp(deps: HttpDeps): Express {
  const app = express()
  const figures = new RequestFigures(deps.log)
  app.disable('x-powered-by').disable('etag')
  app.set('query parser', 'simple').set('case sensitive routing', true).set('trust proxy', deps.settings.trustProxy)
  app.use(requestContext, figures.middleware, deps.drain.watch, cors(deps.settings.corsOrigins))
  app.use(API_PREFIX, deps.drain.refuse, authenticate(deps), rateLimit(deps), api(deps))
  app.use(operations(deps, figures))
  app.use(unmatchedRoute([]))
  app.use(errorHandler(deps.log))
  return app
}

function api(deps: HttpDeps): Router {
  const router = Router({ caseSensitive: true })
  router.use((req, _res, next) => {
    req.url = encodeDocumentPathTail(req.method, req.url)
    next()
  })
  mountContract({
    contract,
    routes: onlyOnce(deps, allRoutes),
    router,
    before: [authorise, readInput(deps.settings.bodyLimitBytes)],
    validateResponses: deps.settings.validateResponses,
  })
  router.use(unmatchedRoute(Object.values(contract).flatMap((routes) => Object.values(routes))))
  return router
}

function allRoutes(deps: HttpDeps): Routes<typeof contract> {
  return {
    apiKeys: apiKeyRoutes(deps),
    projects: projectRoutes(deps),
    versions: versionRoutes(deps),
    documents: documentRoutes(deps),
    runs: runRoutes(deps),
    conversations: conversationRoutes(deps),
    tools: toolRoutes(deps),
    evaluations: evaluationRoutes(deps),
    logs: logRoutes(deps),
    providerApiKeys: providerKeyRoutes(deps),
  }
}
