import type { ApiAnswer } from '../api-call.ts'
import { allRoutes, type WalkedRoute } from '../contract-routes.ts'
import { type RouteRequest, send } from './requests.ts'
import type { World } from './world.ts'

export type Scenario = (world: World, route: WalkedRoute) => Promise<ApiAnswer>

export function to(name: string, world: World, request: RouteRequest): Promise<ApiAnswer> {
  return send(world, routeOf(name), request)
}

export function routeOf(name: string): WalkedRoute {
  const route = allRoutes.find((each) => each.name === name)
  if (!route) throw new Error(`There is no route ${name}`)
  return route
}

export const inLive = ({ project }: World) => ({ projectId: String(project.id), versionUuid: 'live' })

export const inDraft = async ({ project, newDraft }: World) => ({
  projectId: String(project.id),
  versionUuid: await newDraft(),
})
