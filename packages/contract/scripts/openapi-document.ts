import { readFileSync } from 'node:fs'
import type { AppRoute } from '@ts-rest/core'
import { z } from 'zod'
import { sampleOf } from '../samples/index.ts'
import { API_PREFIX, type RouteMetadata } from '../src/common.ts'
import { type Contract, listRoutes, type Route } from '../src/contract.ts'
import { ERROR_STATUSES, ErrorBody, type ErrorStatus } from '../src/errors.ts'
import { RunEvent } from '../src/run-events.ts'
import { ComponentSchemas, type JsonSchema } from './component-schemas.ts'

const TAGS: Record<keyof Contract, string> = {
  apiKeys: 'API keys',
  projects: 'Projects',
  versions: 'Versions',
  documents: 'Prompts',
  runs: 'Runs',
  conversations: 'Conversations',
  tools: 'Tools',
  evaluations: 'Evaluations',
  logs: 'Logs',
  providerApiKeys: 'Provider keys',
}

const DESCRIPTION = `Prompts with versions, and runs of them.

- Every request carries \`Authorization: Bearer <API key>\`.
- Bodies are JSON in UTF-8. Keys that a request schema does not name are ignored, and \`null\` counts as absent for every optional field.
- Fields are only ever added to responses.
- Every response has \`X-Request-Id\`; every authenticated one has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (epoch milliseconds).
- Every error has the body \`ErrorBody\`.`

const HEADERS = {
  'Idempotency-Key':
    'Repeats of a request with the same key get the first answer. 1 to 255 printable ASCII characters.',
  'If-Match': 'The `contentHash` in quotes that the prompt must have, or `*`: it must exist. Else 412.',
  'If-None-Match': 'GET: 304 when it is the current ETag. Write: `*` requires that the prompt does not exist.',
} as const

/** The OpenAPI 3.1 document of the contract. The same contract gives the same bytes. */
export function buildDocument(): JsonSchema {
  const schemas = new ComponentSchemas()
  const paths: Record<string, JsonSchema> = {}
  for (const entry of listRoutes()) {
    const path = entry.route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [entry.route.method.toLowerCase()]: operation(entry, schemas) }
  }
  schemas.describe(ErrorBody)
  return {
    openapi: '3.1.0',
    info: { title: 'stet', version: packageVersion(), description: DESCRIPTION, license: { name: 'Apache-2.0' } },
    servers: [{ url: API_PREFIX }],
    tags: Object.values(TAGS).map((name) => ({ name })),
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `stet_…`.' } },
      parameters: Object.fromEntries(
        Object.entries(HEADERS).map(([name, text]) => [name, headerParameter(name, text)]),
      ),
      schemas: schemas.components(),
      responses: Object.fromEntries(
        Object.entries(ERROR_STATUSES).map(([status, text]) => [status, errorResponse(text)]),
      ),
    },
  }
}

/** As it is checked in: formatted, with a line end. */
export function renderDocument(): string {
  return `${JSON.stringify(buildDocument(), null, 2)}\n`
}

function packageVersion(): string {
  const manifest = z.object({ version: z.string() })
  return manifest.parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))).version
}

function operation({ router, name, route, metadata }: Route, schemas: ComponentSchemas): JsonSchema {
  const body = 'body' in route && route.body instanceof z.ZodType ? route.body : undefined
  return {
    operationId: `${router}.${name}`,
    tags: [TAGS[router]],
    summary: route.summary,
    description: `${route.description ?? ''}\n\n${scopeSentence(metadata)}`.trim(),
    parameters: parameters(route, metadata, schemas),
    ...(body ? { requestBody: requestBody(body, schemas) } : {}),
    responses: responses(route, metadata, schemas),
  }
}

/** An empty body counts as `{}`. */
function requestBody(body: z.ZodType, schemas: ComponentSchemas): JsonSchema {
  return { required: !body.safeParse({}).success, content: jsonContent(body, schemas) }
}

function scopeSentence({ scope }: RouteMetadata): string {
  if (scope === 'any') return 'Scope: any valid key.'
  const scopes = typeof scope === 'string' ? [scope] : scope
  return `Scope: ${scopes.map((one) => `\`${one}\``).join(' or ')}.`
}

function parameters(route: AppRoute, metadata: RouteMetadata, schemas: ComponentSchemas): JsonSchema[] {
  const headers = [...(metadata.idempotent ? ['Idempotency-Key'] : []), ...(metadata.preconditions ?? [])]
  return [
    ...fieldsOf(route.pathParams).map(([name, schema]) => parameter('path', name, schema, schemas)),
    ...fieldsOf(route.query).map(([name, schema]) => parameter('query', name, schema, schemas)),
    ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

function fieldsOf(schema: unknown): [string, z.ZodType][] {
  return schema instanceof z.ZodObject ? Object.entries<z.ZodType>(schema.shape) : []
}

function parameter(place: 'path' | 'query', name: string, field: z.ZodType, schemas: ComponentSchemas): JsonSchema {
  const { description, ...schema } = schemas.describe(field)
  const required = place === 'path'
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema }
}

function headerParameter(name: string, description: string): JsonSchema {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}

function responses(route: AppRoute, metadata: RouteMetadata, schemas: ComponentSchemas): JsonSchema {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, schema]) => {
      if (schema === ErrorBody) return [status, { $ref: `#/components/responses/${status satisfies string}` }]
      if (!(schema instanceof z.ZodType)) return [status, { description: 'Not modified.' }]
      return [status, success(schema, metadata, schemas)]
    }),
  )
}

function success(schema: z.ZodType, { streams, preconditions }: RouteMetadata, schemas: ComponentSchemas): JsonSchema {
  const events = { 'text/event-stream': { schema: schemas.describe(RunEvent) } }
  return {
    description: streams ? 'The result; with `stream` the events, each with `event`, `data` and `id`.' : 'Success.',
    ...(preconditions?.includes('If-None-Match') ? { headers: { ETag: etagHeader() } } : {}),
    content: { ...jsonContent(schema, schemas), ...(streams ? events : {}) },
  }
}

function etagHeader(): JsonSchema {
  return { description: 'The `contentHash` in quotes.', schema: { type: 'string' } }
}

function jsonContent(schema: z.ZodType, schemas: ComponentSchemas): JsonSchema {
  const example = exampleFor(schema)
  return { 'application/json': { schema: schemas.describe(schema), ...(example === undefined ? {} : { example }) } }
}

/** The sample of the schema, or of the items of a list, or of the first choice of a union. */
function exampleFor(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodArray) return [exampleFor(schema.element)]
  if (schema instanceof z.ZodUnion && schema.options[0]) return exampleFor(schema.options[0])
  const id = z.globalRegistry.get(schema)?.id
  return id === undefined ? undefined : sampleOf(id)?.valid
}

function errorResponse(description: (typeof ERROR_STATUSES)[ErrorStatus]): JsonSchema {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } } }
}
