import { type RouteMetadata, routes } from '@stet/contract/routes'
import type { Health, RouteTypes } from '@stet/contract/vocabulary'

/** Routers and single routes whose SDK name differs from the contract. */
const routers = { documents: 'prompts', providerApiKeys: 'providerKeys' } as const
const single = {
  'apiKeys.me': 'me',
  'runs.run': 'prompts.run',
  'runs.chat': 'conversations.chat',
  'tools.result': 'runs.toolResult',
  'evaluations.annotations': 'conversations.annotations',
} as const

type RouteName = { [R in keyof RouteTypes]: `${R}.${keyof RouteTypes[R] & string}` }[keyof RouteTypes]
type Renamed<Name extends RouteName> = Name extends keyof typeof single
  ? (typeof single)[Name]
  : Name extends `${infer R extends keyof typeof routers}.${infer N}`
    ? `${(typeof routers)[R]}.${N}`
    : Name
type At<Table, Name> = Name extends `${infer R extends keyof Table & string}.${infer N}`
  ? N extends keyof Table[R]
    ? Table[R][N]
    : never
  : never

export type OperationTypes = { health: { result: Health } } & {
  [Name in RouteName as Renamed<Name>]: At<RouteTypes, Name>
}
export type OperationPaths = { health: '/health' } & {
  [Name in RouteName as Renamed<Name>]: At<typeof routes, Name>['path']
}
export type OperationName = keyof OperationTypes

export interface Operation {
  method: RouteMetadata['method']
  path: string
  /** Whether the client may repeat a failed attempt. `keyed` requires an idempotency key. */
  retry: boolean | 'keyed'
  sendsBody: boolean
  /** The route is outside the API prefix and needs no API key. */
  outside?: true
}

/** Paths are relative to the API prefix, except for operations with `outside`. */
// The pure annotation lets bundlers drop the table when no operation is used.
export const operations = /* @__PURE__ */ allOperations()

function allOperations() {
  const renamed: Record<string, string> = { ...routers, ...single }
  const named = Object.entries(routes).flatMap(([router, records]) =>
    Object.entries<RouteMetadata>(records).map(([name, route]): [string, Operation] => [
      renamed[`${router}.${name}`] ?? `${renamed[router] ?? router}.${name}`,
      operationOf(route),
    ]),
  )
  const health: Operation = { method: 'GET', path: '/health', retry: true, sendsBody: false, outside: true }
  return { ...(Object.fromEntries(named) as Record<OperationName, Operation>), health }
}

function operationOf({ method, path, idempotent, repeatable, readsBody }: RouteMetadata): Operation {
  const isPost = method === 'POST'
  return {
    method,
    path,
    retry: !isPost || repeatable === true || (idempotent && 'keyed'),
    sendsBody: isPost || method === 'PUT' || readsBody === true,
  }
}
