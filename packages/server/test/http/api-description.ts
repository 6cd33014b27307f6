/** The part of the OpenAPI document that tests read. */
import { readFileSync } from 'node:fs'
import type { WalkedRoute } from './contract-routes.ts'

/** The subset of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  const?: unknown
  enum?: unknown[]
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minimum?: number
  maximum?: number
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: { 'application/json'?: { schema: Schema } } }
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const document = JSON.parse(
  readFileSync(new URL('../../../contract/openapi.json', import.meta.url), 'utf8'),
) as Document
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

export function operationOf({ name }: WalkedRoute): Operation {
  const found = operations.find(({ operationId }) => operationId === name)
  if (!found) throw new Error(`The API description has no operation ${name}`)
  return found
}

export function componentOf(reference: string): Schema {
  return document.components.schemas[reference.replace('#/components/schemas/', '')] ?? {}
}

/** The keys declared by the route's body schema. Undefined for a route without a body. */
export function bodyKeys(route: WalkedRoute): string[] | undefined {
  const schema = operationOf(route).requestBody?.content['application/json']?.schema
  const named = schema?.$ref === undefined ? schema : componentOf(schema.$ref)
  return named && Object.keys(named.properties ?? {})
}
