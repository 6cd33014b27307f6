import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import { absent, IdParams, JsonObject, Name, nullsAbsent, orTap, type RouteMetadata, Timestamp } from './common.ts'
import { withErrors } from './errors.ts'

const c = initContract()

/** The kinds of providers. The built-in demo provider is `custom` on the wire. */
export const ProviderKind = z
  .enum([
    'openai',
    'anthropic',
    'groq',
    'mistral',
    'azure',
    'google',
    'google_vertex',
    'anthropic_vertex',
    'custom',
    'xai',
    'amazon_bedrock',
    'deepseek',
    'perplexity',
  ])
  .meta({ id: 'ProviderKind' })
export type ProviderKind = z.infer<typeof ProviderKind>

/**
 * A provider that prompts can name, with the key that stet uses for it.
 *
 * @example
 * { "id": 3, "name": "OpenAI", "provider": "openai", "token": "sk-********ab12", … }
 */
export const ProviderKey = z
  .object({
    id: z.int32().nonnegative().meta({ description: '0 for entries that need no row: the environment and `demo`.' }),
    name: z.string(),
    provider: ProviderKind,
    token: z.string().meta({ description: 'Masked.' }),
    url: z.string().nullable(),
    defaultModel: z.string().nullable(),
    configuration: JsonObject,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    lastUsedAt: Timestamp.nullable(),
  })
  .meta({ id: 'ProviderKey' })
export type ProviderKey = z.infer<typeof ProviderKey>

const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

const createShape = {
  name: Name.meta({ description: 'What prompts name as `provider`; unique without regard to case.' }),
  provider: ProviderKind,
  token: z.string().min(1),
  url: HttpUrl.exactOptional().meta({ description: 'The base URL; required for `custom`.' }),
  defaultModel: z.string().exactOptional(),
  configuration: JsonObject.exactOptional().meta({ description: 'Keys of the kind, and price overrides.' }),
}

/**
 * The body that stores a provider key.
 *
 * @example
 * { "name": "OpenAI", "provider": "openai", "token": "sk-…" }
 */
export const CreateProviderKeyBody = nullsAbsent(
  z.object(createShape).refine((body) => body.provider !== 'custom' || body.url !== undefined, {
    path: ['url'],
    error: 'is required for a custom provider',
  }),
).meta({ id: 'CreateProviderKeyBody' })
export type CreateProviderKeyBody = z.input<typeof CreateProviderKeyBody>

/**
 * The body that changes a provider key; what is absent stays.
 *
 * @example
 * { "token": "sk-…" }
 */
export const UpdateProviderKeyBody = absent({
  name: Name.exactOptional(),
  token: z.string().min(1).exactOptional(),
  url: HttpUrl.exactOptional(),
  defaultModel: z.string().exactOptional().meta({ description: '`""` clears it.' }),
  configuration: JsonObject.exactOptional(),
}).meta({ id: 'UpdateProviderKeyBody' })
export type UpdateProviderKeyBody = z.input<typeof UpdateProviderKeyBody>

export const providerApiKeys = c.router({
  list: {
    method: 'GET',
    path: '/provider-api-keys',
    summary: 'List provider keys',
    description: 'By name. Tokens are masked.',
    responses: withErrors({ 200: z.array(ProviderKey) }),
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
    path: '/provider-api-keys',
    summary: 'Store a provider key',
    description: 'The token is encrypted and never returned.',
    body: CreateProviderKeyBody,
    responses: withErrors({ 201: orTap(ProviderKey) }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['restricted-key', 'name-taken'],
    } as const satisfies RouteMetadata,
  },
  get: {
    method: 'GET',
    path: '/provider-api-keys/:id',
    summary: 'Get a provider key',
    description: 'The token is masked.',
    pathParams: IdParams,
    responses: withErrors({ 200: ProviderKey }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['restricted-key', 'unknown-provider-key'],
    } as const satisfies RouteMetadata,
  },
  update: {
    method: 'PUT',
    path: '/provider-api-keys/:id',
    summary: 'Change a provider key',
    description:
      'Counts from the next model call. A new address (`url`, or `baseUrl` or `resourceName` of the configuration) needs ' +
      'the token again, else 400. Entries from the environment cannot be changed: 409.',
    pathParams: IdParams,
    body: UpdateProviderKeyBody,
    responses: withErrors({ 200: ProviderKey }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['restricted-key', 'unknown-provider-key', 'name-taken', 'fixed-entry'],
    } as const satisfies RouteMetadata,
  },
  delete: {
    method: 'DELETE',
    path: '/provider-api-keys/:id',
    summary: 'Delete a provider key',
    description: 'Answers the deleted entry. Entries from the environment cannot be deleted: 409.',
    pathParams: IdParams,
    responses: withErrors({ 200: ProviderKey }),
    metadata: {
      scope: 'admin',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['restricted-key', 'unknown-provider-key', 'fixed-entry'],
    } as const satisfies RouteMetadata,
  },
})
