import type { RouteMetadata, routes } from '@stet/contract/routes'
import type { Health, RouteTypes } from '@stet/contract/vocabulary'
import { operationTable, type routers, type single } from './operation-table.ts'

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
  outside: boolean
}

/** Paths are relative to the API prefix, except for operations with `outside`. `later-operations.ts` adds the others. */
// The pure annotation lets bundlers drop the table when no operation is used.
export const operations = /* @__PURE__ */ readTable(operationTable)

export function readTable(table: string): Record<OperationName, Operation> {
  const named = table.split('\n').map((line) => {
    const [name, method, path, flag] = line.split(' ')
    const retry = method !== 'POST' || (flag ? flag === 'r' : 'keyed')
    return [name, { method, path, retry, sendsBody: / P| b$/.test(line), outside: name === 'health' }]
  })
  return Object.fromEntries(named) as Record<OperationName, Operation>
}
