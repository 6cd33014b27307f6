import { type AppRoute, initContract } from '@ts-rest/core'
import { statusOf } from './causes/error-causes.ts'
import { causesOf } from './causes-of.ts'
import { ERROR_STATUSES } from './errors.ts'
import { consoleRoutes, type RouteMetadata, routes } from './routes.ts'
import { agreementRoutes } from './schemas/agreement.ts'
import { apiKeyRoutes } from './schemas/api-keys.ts'
import { consoleRouteShapes } from './schemas/console.ts'
import { conversationRoutes } from './schemas/conversations.ts'
import { documentRoutes } from './schemas/documents.ts'
import { environmentRoutes } from './schemas/environments.ts'
import { evaluationRoutes } from './schemas/evaluations.ts'
import { exampleRoutes } from './schemas/examples.ts'
import { experimentRoutes } from './schemas/experiments.ts'
import { gateRoutes } from './schemas/gates.ts'
import { labelRoutes } from './schemas/labels.ts'
import { logRoutes } from './schemas/logs.ts'
import { projectRoutes } from './schemas/projects.ts'
import { providerKeyRoutes } from './schemas/provider-api-keys.ts'
import { providerRoutes } from './schemas/providers.ts'
import { runRecordRoutes } from './schemas/run-records.ts'
import { runRoutes } from './schemas/runs.ts'
import { toolRoutes } from './schemas/tools.ts'
import { versionRoutes } from './schemas/versions.ts'

/** Joins every record of `routes.ts` with its schemas. Paths are relative to `API_PREFIX`. */
export const contract = initContract().router({
  apiKeys: join(routes.apiKeys, apiKeyRoutes),
  projects: join(routes.projects, { ...projectRoutes, ...gateRoutes }),
  versions: join(routes.versions, versionRoutes),
  environments: join(routes.environments, environmentRoutes),
  documents: join(routes.documents, documentRoutes),
  runs: join(routes.runs, runRoutes),
  runRecords: join(routes.runRecords, runRecordRoutes),
  conversations: join(routes.conversations, { ...conversationRoutes, ...labelRoutes }),
  tools: join(routes.tools, toolRoutes),
  evaluations: join(routes.evaluations, { ...evaluationRoutes, ...agreementRoutes }),
  examples: join(routes.examples, exampleRoutes),
  experiments: join(routes.experiments, experimentRoutes),
  logs: join(routes.logs, logRoutes),
  providerApiKeys: join(routes.providerApiKeys, providerKeyRoutes),
  providers: join(routes.providers, providerRoutes),
})
export type Contract = typeof contract

/** The sign-in of the console, outside `API_PREFIX`. */
export const consoleContract = initContract().router({ console: join(consoleRoutes, consoleRouteShapes) })
export type ConsoleContract = typeof consoleContract

type Joined<Records extends Record<string, RouteMetadata>, Shapes> = {
  [Name in keyof Records & keyof Shapes]: Shapes[Name] &
    Pick<Records[Name], 'method' | 'path'> & { metadata: Records[Name] }
}

function join<Records extends Record<string, RouteMetadata>, Shapes extends Record<keyof Records, object>>(
  records: Records,
  shapes: Shapes & Record<Exclude<keyof Shapes, keyof Records>, never>,
): Joined<Records, Shapes> {
  const joined = Object.entries(records).map(([name, metadata]) => {
    const { method, path } = metadata
    return [name, { method, path, ...shapes[name], metadata }]
  })
  return Object.fromEntries(joined)
}

for (const { route, metadata } of [...listRoutes(), ...listConsoleRoutes()]) dropUnusedStatuses(route, metadata)

function dropUnusedStatuses(route: AppRoute, metadata: RouteMetadata): void {
  const used = new Set<number>(causesOf(route, metadata).map((cause) => statusOf(cause)))
  for (const status of Object.keys(ERROR_STATUSES).map(Number)) if (!used.has(status)) delete route.responses[status]
}

export interface Route {
  router: keyof Contract | keyof ConsoleContract
  name: string
  route: AppRoute
  metadata: RouteMetadata
}

export function listRoutes(): Route[] {
  const routers = Object.keys(contract) as (keyof Contract)[]
  return routers.flatMap((router) => routesOf(router, contract[router]))
}

/** Their paths are complete, without `API_PREFIX`. */
export function listConsoleRoutes(): Route[] {
  return routesOf('console', consoleContract.console)
}

function routesOf(router: Route['router'], routes: Record<string, AppRoute>): Route[] {
  return Object.entries(routes).map(([name, route]) => {
    return { router, name, route, metadata: route.metadata as RouteMetadata }
  })
}
