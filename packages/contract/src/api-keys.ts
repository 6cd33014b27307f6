import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  Id,
  IdParams,
  KeyScope,
  LIMITS,
  Name,
  nullsAbsent,
  orTap,
  type RouteMetadata,
  Timestamp,
} from './common.ts'
import { withErrors } from './errors.ts'

const c = initContract()

/** The plan of a key sets its requests per second: 10, 166, 500, or its own number. */
export const KeyPlan = z.enum(['hobby', 'team', 'enterprise', 'custom'])
export type KeyPlan = z.infer<typeof KeyPlan>

const apiKeyShape = {
  id: Id,
  name: z.string(),
  prefix: z
    .string()
    .regex(/^stet_.{4}$/)
    .meta({ description: 'The start of the key, to recognise it by.' }),
  scopes: z.array(KeyScope),
  projectId: Id.nullable().meta({ description: 'The only project that the key can see; null: all of them.' }),
  plan: KeyPlan,
  limit: z.int().positive().meta({ description: 'Requests per second.' }),
  author: z.object({ id: Id, name: z.string(), email: z.string() }),
  expiresAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  createdAt: Timestamp,
}

/**
 * An API key, without its secret.
 *
 * @example
 * { "id": 1, "name": "ci", "prefix": "stet_Zk3a", "scopes": ["read", "run"], "plan": "team", "limit": 166, … }
 */
export const ApiKey = z.object(apiKeyShape).meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof ApiKey>

/**
 * A new API key. `key` is the secret and is never shown again.
 *
 * @example
 * const { key } = created // stet_…
 */
export const CreatedApiKey = z
  .object({ ...apiKeyShape, key: z.string().meta({ description: 'The secret; shown this once.' }) })
  .meta({ id: 'CreatedApiKey' })
export type CreatedApiKey = z.infer<typeof CreatedApiKey>

const createShape = {
  name: Name,
  scopes: z.array(KeyScope).min(1).exactOptional().meta({ description: 'Default: read, run, write, publish.' }),
  projectId: Id.exactOptional().meta({ description: 'Restricts the key to one project.' }),
  expiresAt: z.iso
    .datetime({ offset: true })
    .exactOptional()
    .meta({ pattern: undefined, description: 'In the future.' }),
  plan: KeyPlan.exactOptional().meta({ description: 'Default: team.' }),
  limit: z
    .int()
    .min(1)
    .max(LIMITS.rateLimit)
    .exactOptional()
    .meta({ description: 'Required for the plan `custom`, refused for the others.' }),
}

/**
 * The body that creates an API key.
 *
 * @example
 * { "name": "ci", "scopes": ["read", "run"], "expiresAt": "2030-01-01T00:00:00.000Z" }
 */
export const CreateApiKeyBody = nullsAbsent(
  z
    .object(createShape)
    .refine((body) => body.plan !== 'custom' || body.limit !== undefined, {
      path: ['limit'],
      error: 'is required for the plan custom',
    })
    .refine((body) => body.plan === 'custom' || body.limit === undefined, {
      path: ['limit'],
      error: 'is for the plan custom only',
    }),
).meta({ id: 'CreateApiKeyBody' })
export type CreateApiKeyBody = z.input<typeof CreateApiKeyBody>

/**
 * The body that replaces an API key by a new one.
 *
 * @example
 * { "overlapSeconds": 3600 }
 */
export const RotateApiKeyBody = absent({
  overlapSeconds: z
    .int()
    .min(0)
    .max(LIMITS.overlapSeconds)
    .default(0)
    .meta({ description: 'How long the old key still works.' }),
}).meta({ id: 'RotateApiKeyBody' })
export type RotateApiKeyBody = z.input<typeof RotateApiKeyBody>

/**
 * Who is calling.
 *
 * @example
 * { "apiKey": {…}, "workspace": { "id": 1, "name": "default" }, "rateLimit": { "limit": 166, "windowSeconds": 1 }, … }
 */
export const Me = z
  .object({
    apiKey: ApiKey,
    workspace: z.object({ id: Id, name: z.string() }),
    rateLimit: z.object({ limit: z.int().positive(), windowSeconds: z.literal(1) }),
    features: z.array(z.string()).meta({ description: 'What this server offers beyond the first release.' }),
  })
  .meta({ id: 'Me' })
export type Me = z.infer<typeof Me>

export const apiKeys = c.router({
  me: {
    method: 'GET',
    path: '/me',
    summary: 'Show the calling key',
    description: 'The key, its workspace and its rate limit; any valid key may ask.',
    responses: withErrors({ 200: Me }),
    metadata: { scope: 'any', rateLimited: true, idempotent: false, streams: false } as const satisfies RouteMetadata,
  },
  list: {
    method: 'GET',
    path: '/api-keys',
    summary: 'List API keys',
    description: 'The newest first, revoked ones included.',
    responses: withErrors({ 200: z.array(ApiKey) }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['restricted-key'],
    } as const satisfies RouteMetadata,
  },
  create: {
    method: 'POST',
    path: '/api-keys',
    summary: 'Create an API key',
    description: 'The response holds the secret; it is shown this once.',
    body: CreateApiKeyBody,
    responses: withErrors({ 201: orTap(CreatedApiKey) }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: true,
      answersSecret: true,
      streams: false,
      errors: ['restricted-key', 'unknown-project'],
    } as const satisfies RouteMetadata,
  },
  rotate: {
    method: 'POST',
    path: '/api-keys/:id/rotate',
    summary: 'Rotate an API key',
    description:
      'A new key with the same name, scopes, project, plan and expiry; its secret is shown this once. The old key ends ' +
      'after the overlap. 409 for a key that has ended already.',
    pathParams: IdParams,
    body: RotateApiKeyBody,
    responses: withErrors({ 201: orTap(CreatedApiKey) }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: true,
      answersSecret: true,
      streams: false,
      errors: ['restricted-key', 'unknown-api-key', 'revoked-key', 'expired-key'],
    } as const satisfies RouteMetadata,
  },
  revoke: {
    method: 'DELETE',
    path: '/api-keys/:id',
    summary: 'Revoke an API key',
    description: 'In force at once, and harmless to repeat. The last admin key cannot be revoked: 409.',
    pathParams: IdParams,
    responses: withErrors({ 200: ApiKey }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['restricted-key', 'unknown-api-key', 'last-admin-key'],
    } as const satisfies RouteMetadata,
  },
})
