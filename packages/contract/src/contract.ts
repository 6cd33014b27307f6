import { type AppRoute, initContract } from '@ts-rest/core'
import { apiKeys } from './api-keys.ts'
import { causesOf } from './causes-of.ts'
import type { RouteMetadata } from './common.ts'
import { conversations } from './conversations.ts'
import { documents } from './documents.ts'
import { ERROR_CAUSES } from './error-causes.ts'
import { ERROR_STATUSES } from './errors.ts'
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

for (const { route, metadata } of listRoutes()) dropUnusedStatuses(route, metadata)

/** No error is declared that nobody can see. */
function dropUnusedStatuses(route: AppRoute, metadata: RouteMetadata): void {
  const used = new Set<number>(causesOf(route, metadata).map((cause) => ERROR_CAUSES[cause].status))
  for (const status of Object.keys(ERROR_STATUSES).map(Number)) if (!used.has(status)) delete route.responses[status]
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
