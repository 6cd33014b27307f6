import { z } from 'zod'
import { absent, Id, IdParams, KeyScope, Name, nameText, nullsAbsent, orRaw, Person, Timestamp } from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'

export const KeyPlan = z.enum(['hobby', 'team', 'enterprise', 'custom']).meta({
  description: "The pricing plan of an API key sets its requests per second: 10, 166, 500, or the key's own `limit`.",
})

const apiKeyShape = {
  id: Id,
  name: z.string(),
  prefix: z
    .string()
    .regex(/^stet_.{4}$/)
    .meta({ description: 'The start of the key, to recognize it by.' }),
  scopes: z.array(KeyScope),
  projectId: Id.nullable().meta({ description: 'The only project that the key can see; `null` means all.' }),
  plan: KeyPlan,
  limit: z.int().positive().meta({ description: 'Requests per second.' }),
  author: Person,
  expiresAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  createdAt: Timestamp,
}

export const ApiKey = z.object(apiKeyShape).meta({
  id: 'ApiKey',
  example: 'const expired = keys.filter(({ expiresAt }) => expiresAt !== null && expiresAt < new Date().toISOString())',
})

export const CreatedApiKey = z
  .object({ ...apiKeyShape, key: z.string().meta({ description: 'The secret. No later response contains it.' }) })
  .meta({
    id: 'CreatedApiKey',
    description: 'A new API key. Only this response contains the secret `key`.',
    example: 'const { key } = created // stet_…',
  })

// Shown in versions and history, never written to. One `@` between texts without spaces is enough.
const Email = nameText({ min: 3, max: LIMITS.nameLength }).regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')

const createShape = {
  name: Name,
  scopes: z.array(KeyScope).min(1).exactOptional().meta({ description: 'Default: read, run, write, publish.' }),
  projectId: Id.exactOptional().meta({ description: 'Restricts the key to one project.' }),
  expiresAt: z.iso
    .datetime({ offset: true })
    .exactOptional()
    .meta({ pattern: undefined, description: 'An instant in the future.' }),
  plan: KeyPlan.exactOptional().meta({ description: 'Default: team.' }),
  limit: z
    .int()
    .min(1)
    .max(LIMITS.rateLimit)
    .exactOptional()
    .meta({ description: 'Required for the pricing plan `custom`, refused for the others.' }),
  author: z
    .object({ name: Name, email: Email })
    .exactOptional()
    .meta({
      description:
        'The person whom the key acts for, found by email without case, otherwise created. Default: the author with ' +
        'the name of the key.',
    }),
}

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
).meta({
  id: 'CreateApiKeyBody',
  description:
    'Creates an API key. `limit` is required for the pricing plan `custom` and refused for all other pricing plans.',
  example: "{ name: 'ci', scopes: ['read', 'run'], expiresAt: '2030-01-01T00:00:00.000Z' }",
})

export const RotateApiKeyBody = absent({
  overlapSeconds: z
    .int()
    .min(0)
    .max(LIMITS.overlapSeconds)
    .default(0)
    .meta({ description: 'How long the old key keeps working.' }),
}).meta({ id: 'RotateApiKeyBody', example: '{ overlapSeconds: 3600 }' })

export const Me = z
  .object({
    apiKey: ApiKey,
    workspace: z.object({ id: Id, name: z.string() }),
    rateLimit: z.object({ limit: z.int().positive(), windowSeconds: z.literal(1) }),
    features: z.array(z.string()).meta({ description: 'Features of this server beyond the first release.' }),
  })
  .meta({ id: 'Me', example: "const canPublish = me.apiKey.scopes.includes('publish')" })

export const apiKeyRoutes = {
  me: {
    summary: 'Show the calling key',
    description: 'Returns the key, its workspace and its rate limit. Any valid key works.',
    responses: withErrors({ 200: Me }),
  },
  list: {
    summary: 'List API keys',
    description: 'Newest first, including revoked keys.',
    responses: withErrors({ 200: z.array(ApiKey) }),
  },
  create: {
    summary: 'Create an API key',
    description: 'The response contains the secret. No later response does.',
    body: CreateApiKeyBody,
    responses: withErrors({ 201: orRaw(CreatedApiKey) }),
  },
  rotate: {
    summary: 'Rotate an API key',
    description:
      'Creates a key with the same name, scopes, project, plan and expiry, and returns its secret once. The old key ' +
      'works until the overlap ends. 409 if the key is revoked or expired.',
    pathParams: IdParams,
    body: RotateApiKeyBody,
    responses: withErrors({ 201: orRaw(CreatedApiKey) }),
  },
  revoke: {
    summary: 'Revoke an API key',
    description: 'Takes effect at once. Revoking it again changes nothing. 409 for the last admin key.',
    pathParams: IdParams,
    responses: withErrors({ 200: ApiKey }),
  },
}
