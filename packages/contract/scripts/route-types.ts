import { z } from 'zod'
import { listConsoleRoutes, listRoutes, type Route } from '../src/contract.ts'
import type { WireTypes } from './wire-types.ts'

/** The interfaces of the query, body and successful response of every route, keyed as in the contract. */
export function routeTypes(types: WireTypes): string {
  const routes = listRoutes()
  const routers = [...new Set(routes.map(({ router }) => router))]
  const members = routers.map((name) => {
    const own = routes.filter(({ router }) => router === name)
    return `${name}: ${membersOf(own, types)}`
  })
  return `/** The query, body and successful response of every route, keyed as in the contract. */
export interface RouteTypes {\n${members.join('\n')}\n}

/** The same for the routes of the console. Routes without a result answer 204. */
export interface ConsoleRouteTypes ${membersOf(listConsoleRoutes(), types)}`
}

function membersOf(routes: Route[], types: WireTypes): string {
  const members = routes.map(({ name, route }) => {
    const body = 'body' in route ? route.body : undefined
    const results = [route.responses[200], route.responses[201]].filter(isSchema).map((found) => types.typeOf(found))
    return `${name}: { ${[
      ...(isSchema(route.query) ? [`query: ${types.typeOf(route.query)}`] : []),
      ...(isSchema(body) ? [`body: ${types.typeOf(body)}`] : []),
      `result: ${results.join(' | ') || 'never'}`,
    ].join('; ')} }`
  })
  return `{\n${members.join('\n')}\n}`
}

const isSchema = (value: unknown): value is z.ZodType => value instanceof z.ZodType
