import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ErrorBody, KeyScope, listRoutes } from '../src/index.ts'

const Metadata = z.strictObject({
  scope: z.union([KeyScope, z.literal('any'), z.array(KeyScope).min(1)]),
  rateLimited: z.boolean(),
  idempotent: z.boolean(),
  streams: z.boolean(),
  preconditions: z.array(z.enum(['If-Match', 'If-None-Match'])).optional(),
  ignoresBody: z.literal(true).optional(),
  answersSecret: z.literal(true).optional(),
})

const routes = listRoutes().map((entry) => ({ ...entry, label: `${entry.router}.${entry.name}` }))

test('the routes of the first release are there', () => {
  expect(routes.map(({ label, route }) => `${label} ${route.method} ${route.path}`)).toMatchInlineSnapshot(`
    [
      "apiKeys.me GET /me",
      "apiKeys.list GET /api-keys",
      "apiKeys.create POST /api-keys",
      "apiKeys.rotate POST /api-keys/:id/rotate",
      "apiKeys.revoke DELETE /api-keys/:id",
      "projects.list GET /projects",
      "projects.create POST /projects",
      "projects.update PUT /projects/:projectId",
      "versions.list GET /projects/:projectId/versions",
      "versions.create POST /projects/:projectId/versions",
      "versions.get GET /projects/:projectId/versions/:versionUuid",
      "versions.publish POST /projects/:projectId/versions/:versionUuid/publish",
      "versions.push POST /projects/:projectId/versions/:versionUuid/push",
      "versions.revert POST /projects/:projectId/versions/:versionUuid/revert",
      "versions.diff GET /projects/:projectId/versions/:versionUuid/diff",
      "documents.list GET /projects/:projectId/versions/:versionUuid/documents",
      "documents.create POST /projects/:projectId/versions/:versionUuid/documents",
      "documents.get GET /projects/:projectId/versions/:versionUuid/documents/:path",
      "documents.getOrCreate POST /projects/:projectId/versions/:versionUuid/documents/get-or-create",
      "documents.createOrUpdate POST /projects/:projectId/versions/:versionUuid/documents/create-or-update",
      "documents.delete DELETE /projects/:projectId/versions/:versionUuid/documents/:path",
      "runs.run POST /projects/:projectId/versions/:versionUuid/documents/run",
      "runs.chat POST /conversations/:conversationUuid/chat",
      "runs.attach POST /conversations/:conversationUuid/attach",
      "runs.stop POST /conversations/:conversationUuid/stop",
      "conversations.list GET /conversations",
      "conversations.get GET /conversations/:conversationUuid",
      "tools.result POST /tools/results",
      "evaluations.create POST /evaluations",
      "evaluations.list GET /evaluations",
      "evaluations.get GET /evaluations/:evaluationUuid",
      "evaluations.annotate POST /conversations/:conversationUuid/evaluations/:evaluationUuid/annotate",
      "evaluations.annotations GET /conversations/:conversationUuid/annotations",
      "logs.create POST /projects/:projectId/versions/:versionUuid/documents/logs",
      "providerApiKeys.list GET /provider-api-keys",
      "providerApiKeys.create POST /provider-api-keys",
      "providerApiKeys.get GET /provider-api-keys/:id",
      "providerApiKeys.update PUT /provider-api-keys/:id",
      "providerApiKeys.delete DELETE /provider-api-keys/:id",
    ]
  `)
})

describe.each(routes)('$label', ({ route, metadata }) => {
  test('says what the server must know before its handler', () => {
    expect(Metadata.safeParse(metadata).error).toBeUndefined()
    if (metadata.idempotent || metadata.streams) expect(route.method).toBe('POST')
  })

  test('has a summary and a description that end as sentences', () => {
    expect(route.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(route.description).toMatch(/^[A-Z`][\s\S]*[.:]/)
  })

  test('names every parameter of its path', () => {
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1])
    const declared = route.pathParams instanceof z.ZodObject ? Object.keys(route.pathParams.shape) : []
    expect(declared).toEqual(inPath)
  })

  test('declares the errors that any route can give, and 404 where it has an id', () => {
    const statuses = Object.keys(route.responses).map(Number)
    expect(statuses).toEqual(expect.arrayContaining([400, 401, 429, 500, 503]))
    expect(statuses.includes(403)).toBe(metadata.scope !== 'any')
    const readsBody = /^(POST|PUT)$/.test(route.method) && !metadata.ignoresBody
    expect([413, 415].filter((status) => statuses.includes(status))).toEqual(readsBody ? [413, 415] : [])
    if (route.path.includes(':')) expect(route.responses[404]).toBe(ErrorBody)
    if (metadata.preconditions?.includes('If-Match')) expect(statuses).toContain(412)
    if (metadata.idempotent) expect(statuses).toEqual(expect.arrayContaining([409, 422]))
  })
})

test('no two routes share a method and a path', () => {
  const places = routes.map(({ route }) => `${route.method} ${route.path.replace(/:\w+/g, ':')}`)
  expect(new Set(places).size).toBe(places.length)
})
