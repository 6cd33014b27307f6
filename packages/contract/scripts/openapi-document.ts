import { readFileSync } from 'node:fs'
import type { AppRoute } from '@ts-rest/core'
import { z } from 'zod'
import { sampleOf } from '../samples/index.ts'
import { ERROR_CAUSES, type ErrorCause, statusOf } from '../src/causes/error-causes.ts'
import { causesOf, readsBody } from '../src/causes-of.ts'
import { listConsoleRoutes, listRoutes, type Route } from '../src/contract.ts'
import { ERROR_STATUSES, ErrorBody } from '../src/errors.ts'
import { type OperatorRouteName, operatorRoutes } from '../src/operator-routes.ts'
import { API_PREFIX, type RouteMetadata } from '../src/routes.ts'
import { Document } from '../src/schemas/documents.ts'
import { RunEvent } from '../src/schemas/run-events.ts'
import { ComponentSchemas, type JsonSchema } from './component-schemas.ts'
import { errorHeaders, REQUEST_HEADERS, RESPONSE_HEADERS, requestHeaders, successHeaders } from './openapi-headers.ts'
import { sdkSample } from './sdk-sample.ts'

const TAGS: Record<Route['router'], string> = {
  apiKeys: 'API keys',
  projects: 'Projects',
  versions: 'Versions',
  environments: 'Environments',
  documents: 'Prompts',
  runs: 'Runs',
  runRecords: 'Run records',
  conversations: 'Conversations',
  tools: 'Tools',
  evaluations: 'Evaluations',
  examples: 'Examples',
  experiments: 'Experiments',
  logs: 'Logs',
  providerApiKeys: 'Provider keys',
  providers: 'Providers',
  console: 'Console',
}

const DESCRIPTION = `Prompts with versions, and runs of them.

- Every request carries \`Authorization: Bearer <API key>\`, or the cookie of a console session with \`X-Stet-Console: 1\`. A request with \`Authorization\` ignores cookies.
- Bodies are JSON in UTF-8. Keys that a request schema does not name are ignored, and \`null\` counts as absent for every optional field.
- Releases only add fields to responses.
- Every error has the body \`ErrorBody\`; \`reason\` names its cause, which [docs/errors.md](docs/errors.md) explains.
- An unknown path is 404. A method that the path does not support is 405 with \`Allow\`.`

const SESSION =
  'The cookie of a console session, which acts for one API key. Its name contains the installation; over https it starts ' +
  'with `__Host-`. Such a request also needs `X-Stet-Console: 1`.'

const OPERATIONS_TAG = 'Server'

/** Deterministic: the same contract produces the same bytes. */
export function buildDocument(): JsonSchema {
  const schemas = new ComponentSchemas()
  const paths: Record<string, JsonSchema> = {}
  for (const entry of listRoutes()) {
    const path = entry.route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [entry.route.method.toLowerCase()]: operation(entry, schemas) }
  }
  for (const entry of listConsoleRoutes()) {
    const path = entry.route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = {
      servers: [{ url: '/' }],
      ...paths[path],
      [entry.route.method.toLowerCase()]: operation(entry, schemas),
    }
  }
  for (const name of Object.keys(operatorRoutes) as OperatorRouteName[]) {
    paths[operatorRoutes[name].path] = { servers: [{ url: '/' }], get: operatorOperation(name) }
  }
  schemas.describe(ErrorBody)
  return {
    openapi: '3.1.0',
    info: { title: 'stet', version: packageVersion(), description: DESCRIPTION, license: { name: 'Apache-2.0' } },
    servers: [{ url: API_PREFIX }],
    tags: [...Object.values(TAGS), OPERATIONS_TAG].map((name) => ({ name })),
    security: [{ bearer: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `stet_…`.' },
        session: { type: 'apiKey', in: 'cookie', name: 'stet-*', description: SESSION },
      },
      parameters: Object.fromEntries(
        Object.entries(REQUEST_HEADERS).map(([name, text]) => [name, headerParameter(name, text)]),
      ),
      headers: RESPONSE_HEADERS,
      schemas: schemas.components(),
      responses: Object.fromEntries(
        Object.entries(ERROR_STATUSES).map(([status, text]) => [status, errorResponse(Number(status), text)]),
      ),
    },
  }
}

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
    description: `${route.description ?? ''}\n\n${scopeSentence(metadata)}${repeatSentence(metadata)}`.trim(),
    parameters: parameters(route, metadata, schemas),
    ...(body ? { requestBody: requestBody(body, schemas) } : {}),
    responses: responses(route, metadata, schemas),
    ...(metadata.isPublic ? { security: [] } : {}),
    // The SDK has no methods for signing in.
    ...(router === 'console'
      ? {}
      : { 'x-codeSamples': [{ lang: 'TypeScript', label: '@stet/sdk', source: sdkSample(route) }] }),
  }
}

/** The server reads an empty body as `{}`. */
function requestBody(body: z.ZodType, schemas: ComponentSchemas): JsonSchema {
  return { required: !body.safeParse({}).success, content: jsonContent(body, schemas) }
}

function scopeSentence({ scope, isPublic }: RouteMetadata): string {
  if (isPublic) return 'Needs no key.'
  if (scope === 'any') return 'Scope: any valid key.'
  const scopes = typeof scope === 'string' ? [scope] : scope
  return `Scope: ${scopes.map((one) => `\`${one}\``).join(' or ')}.`
}

/** Only a POST needs this sentence: all other methods are safe to repeat. */
function repeatSentence({ idempotent, repeatable }: RouteMetadata): string {
  if (repeatable) return ' Safe to repeat without an `Idempotency-Key`.'
  return idempotent ? ' Safe to repeat with an `Idempotency-Key`.' : ''
}

function parameters(route: AppRoute, metadata: RouteMetadata, schemas: ComponentSchemas): JsonSchema[] {
  return [
    ...fieldsOf(route.pathParams).map(([name, schema]) => parameter('path', name, schema, schemas)),
    ...fieldsOf(route.query).map(([name, schema]) => parameter('query', name, schema, schemas)),
    ...requestHeaders(metadata, readsBody(route, metadata)).map((name) => ({
      $ref: `#/components/parameters/${name}`,
    })),
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
  const causes = causesOf(route, metadata)
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, schema]) => {
      if (schema === ErrorBody) return [status, refusal(Number(status), causes)]
      if (!(schema instanceof z.ZodType)) {
        return [status, { description: status === '204' ? 'Success, without a body.' : 'Not modified.' }]
      }
      return [status, success(schema, metadata, schemas)]
    }),
  )
}

function refusal(status: number, causes: readonly ErrorCause[]): JsonSchema {
  const texts = causes.filter((cause) => statusOf(cause) === status).map((cause) => ERROR_CAUSES[cause].when)
  const text = texts.join('; ')
  return { $ref: `#/components/responses/${status}`, description: `${text.charAt(0).toUpperCase()}${text.slice(1)}.` }
}

function success(schema: z.ZodType, metadata: RouteMetadata, schemas: ComponentSchemas): JsonSchema {
  const { streams } = metadata
  const events = { 'text/event-stream': { schema: schemas.describe(RunEvent) } }
  return {
    description: streams ? 'The result; with `stream` the events, each with `event`, `data` and `id`.' : 'Success.',
    headers: successHeaders(metadata, schema === Document),
    content: { ...jsonContent(schema, schemas), ...(streams ? events : {}) },
  }
}

function operatorOperation(name: OperatorRouteName): JsonSchema {
  const { summary, description, contentType, errors } = operatorRoutes[name]
  const causes: readonly ErrorCause[] = [...errors, 'unforeseen']
  const statuses = [...new Set(causes.map(statusOf))].sort()
  return {
    operationId: `operations.${name}`,
    tags: [OPERATIONS_TAG],
    summary,
    description,
    security: name === 'metrics' ? [{ bearer: [] }, {}] : [],
    responses: {
      200: { description: 'Success.', content: { [contentType]: {} } },
      ...Object.fromEntries(statuses.map((status) => [status, refusal(status, causes)])),
    },
  }
}

function jsonContent(schema: z.ZodType, schemas: ComponentSchemas): JsonSchema {
  const example = exampleFor(schema)
  return { 'application/json': { schema: schemas.describe(schema), ...(example === undefined ? {} : { example }) } }
}

/** Uses the sample of the schema, of a list's items or of a union's first choice. */
function exampleFor(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodArray) return [exampleFor(schema.element)]
  if (schema instanceof z.ZodUnion && schema.options[0]) return exampleFor(schema.options[0])
  const id = z.globalRegistry.get(schema)?.id
  return id === undefined ? undefined : sampleOf(id)?.valid
}

function errorResponse(status: number, description: string): JsonSchema {
  const schema = { $ref: '#/components/schemas/ErrorBody' }
  return { description, headers: errorHeaders(status), content: { 'application/json': { schema } } }
}
