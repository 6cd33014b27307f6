import { type AppRoute, initContract } from '@ts-rest/core'
import { apiKeys } from './api-keys.ts'
import type { RouteMetadata } from './common.ts'
import { conversations } from './conversations.ts'
import { documents } from './documents.ts'
import { evaluations } from './evaluations.ts'
import { logs } from './logs.ts'
import { projects } from './projects.ts'
import { providerApiKeys } from './provider-api-keys.ts'
import { runs } from './runs.ts'
import { tools } from './tools.ts'
import { versions } from './versions.ts'

/**
 * Every route of the API. Paths are relative to {@link API_PREFIX}.
 *
 * @example
 * contract.documents.get.path // '/projects/:projectId/versions/:versionUuid/documents/:path'
 */
export const contract = initContract().router({
  apiKeys,
  projects,
  versions,
  documents,
  runs,
  conversations,
  tools,
  evaluations,
  logs,
  providerApiKeys,
})
export type Contract = typeof contract

for (const { route, metadata } of listRoutes()) dropImpossibleErrors(route, metadata)

/** What a route is decides which of the errors of all routes it cannot give: none is declared that nobody can see. */
function dropImpossibleErrors({ method, responses }: AppRoute, { scope, ignoresBody }: RouteMetadata): void {
  if (scope === 'any') delete responses[403]
  if (ignoresBody || (method !== 'POST' && method !== 'PUT')) {
    delete responses[413]
    delete responses[415]
  }
}

/** A route with its place in the contract. */
export interface Route {
  router: keyof Contract
  name: string
  route: AppRoute
  metadata: RouteMetadata
}

/**
 * All routes as a list, in the order of the contract.
 *
 * @example
 * listRoutes().filter(({ metadata }) => metadata.streams).map(({ name }) => name) // ['run', 'chat', 'attach']
 */
export function listRoutes(): Route[] {
  const routers = Object.keys(contract) as (keyof Contract)[]
  return routers.flatMap((router) =>
    Object.entries<AppRoute>(contract[router]).map(([name, route]) => {
      return { router, name, route, metadata: route.metadata as RouteMetadata }
    }),
  )
}
