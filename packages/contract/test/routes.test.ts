import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  CAUSES_OUTSIDE_ROUTES,
  type CauseEntry,
  causesOf,
  ERROR_CAUSES,
  ERROR_STATUSES,
  ErrorBody,
  type ErrorCause,
  KeyScope,
  listConsoleRoutes,
  listRoutes,
  operatorRoutes,
  statusOf,
} from '../src/index.ts'

const Metadata = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
  path: z.string().startsWith('/'),
  scope: z.union([KeyScope, z.literal('any'), z.array(KeyScope).min(1)]),
  idempotent: z.literal(true).optional(),
  streams: z.literal(true).optional(),
  preconditions: z.array(z.enum(['If-Match', 'If-None-Match'])).optional(),
  ignoresBody: z.literal(true).optional(),
  readsBody: z.literal(true).optional(),
  answersSecret: z.literal(true).optional(),
  showsMessages: z.literal(true).optional(),
  resumes: z.literal(true).optional(),
  repeatable: z.literal(true).optional(),
  worksWhenFull: z.literal(true).optional(),
  refusesRestrictedKeys: z.literal(true).optional(),
  isPublic: z.literal(true).optional(),
  errors: z.array(z.enum(Object.keys(ERROR_CAUSES))).optional(),
})

const routes = [...listRoutes(), ...listConsoleRoutes()].map((entry) => ({
  ...entry,
  label: `${entry.router}.${entry.name}`,
}))

describe.each(routes)('$label', ({ route, metadata }) => {
  test('declares the metadata that the server needs before its handler', () => {
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

  test('declares the causes that follow from its metadata, and only their statuses', () => {
    const causes = causesOf(route, metadata)
    const always = ['refused-query', 'no-key', 'unforeseen', 'server-stopping', 'database-unavailable']
    expect(causes).toEqual(expect.arrayContaining(always))
    expect(causes.includes('unknown-key')).toBe(!metadata.isPublic)
    const spendsPoint = !metadata.isPublic || metadata.errors?.includes('rate-limited') === true
    expect(causes.includes('rate-limited')).toBe(spendsPoint)
    const checksScope = metadata.scope !== 'any' || metadata.errors?.includes('missing-scope') === true
    expect(causes.includes('missing-scope')).toBe(checksScope)
    const readsBody = (/^(POST|PUT)$/.test(route.method) && !metadata.ignoresBody) || metadata.readsBody === true
    for (const cause of ['malformed-json', 'invalid-body', 'body-too-large', 'unsupported-content-type'] as const) {
      expect(causes.includes(cause), cause).toBe(readsBody)
    }
    expect(causes.includes('idempotency-key-reused')).toBe(metadata.idempotent === true)
    expect(causes.includes('if-match-failed')).toBe(metadata.preconditions?.includes('If-Match') ?? false)
    const statuses = new Set<number>(causes.map(statusOf))
    const declared = Object.entries(route.responses).filter(([, schema]) => schema === ErrorBody)
    expect(declared.map(([status]) => Number(status))).toEqual([...statuses].sort())
  })

  test('declares the error for an unknown id in its path', () => {
    const unknownCauses = causesOf(route, metadata).filter((cause) => /^unknown-|^not-a-draft/.test(cause))
    const parameters = [...route.path.matchAll(/:\w+/g)]
    expect(unknownCauses.length).toBeGreaterThanOrEqual(parameters.length)
  })

  test('lists each cause once, and omits those that its other metadata implies', () => {
    const { errors = [] } = metadata
    const derived = causesOf(route, { ...metadata, errors: [] })
    expect(errors.filter((cause) => derived.includes(cause))).toEqual([])
    expect(new Set(errors).size).toBe(errors.length)
  })
})

const causes = Object.keys(ERROR_CAUSES) as ErrorCause[]

test('every cause belongs to a route or occurs outside routes', () => {
  const used = new Set(routes.flatMap(({ route, metadata }) => causesOf(route, metadata)))
  for (const { errors } of Object.values(operatorRoutes)) for (const cause of errors) used.add(cause)
  for (const cause of used) expect(Object.keys(ERROR_STATUSES), cause).toContain(String(statusOf(cause)))
  expect([...used, ...CAUSES_OUTSIDE_ROUTES].sort()).toEqual([...causes].sort())
})

test.each(causes)('%s fills its message from its details and has its own explanation', (cause) => {
  const entry: CauseEntry = ERROR_CAUSES[cause]
  const inserted = [...entry.message.matchAll(/\{(\w+)[^}]*\}/g)].map(([, key]) => key)
  expect([...(entry.details ?? []), ...(entry.inMessage ?? [])]).toEqual(expect.arrayContaining(inserted))
  const { when } = ERROR_CAUSES[cause]
  expect(when).toMatch(/^[^A-Z].*[^.]$/)
  expect(causes.filter((other) => ERROR_CAUSES[other].when === when)).toEqual([cause])
})

test('no two routes share a method and a path', () => {
  const places = routes.map(({ route }) => `${route.method} ${route.path.replace(/:\w+/g, ':')}`)
  expect(new Set(places).size).toBe(places.length)
})
