import { z } from 'zod'
import { absent, type Held, IdParams, JsonObject, Name, nullsAbsent, orRaw, Timestamp } from '../common.ts'
import { withErrors } from '../errors.ts'
import type * as vocabulary from '../vocabulary/index.ts'
import { PROVIDER_KINDS } from '../vocabulary/resources/provider-keys.ts'

export const ProviderKind = z.enum(PROVIDER_KINDS).meta({ id: 'ProviderKind' })
export type ProviderKind = Held<z.infer<typeof ProviderKind>, vocabulary.ProviderKind>

export const ProviderKey = z
  .object({
    id: z.int32().nonnegative().meta({ description: '0 for keys from the environment and for `demo`.' }),
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
export type ProviderKey = Held<z.infer<typeof ProviderKey>, vocabulary.ProviderKey>

const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

const createShape = {
  name: Name.meta({ description: 'The name that prompts use as `provider`. Unique, ignoring case.' }),
  provider: ProviderKind,
  token: z.string().min(1),
  url: HttpUrl.exactOptional().meta({ description: 'The base URL; required for `custom`.' }),
  defaultModel: z.string().exactOptional(),
  configuration: JsonObject.exactOptional().meta({ description: 'Options of the provider type, and price overrides.' }),
}

export const CreateProviderKeyBody = nullsAbsent(
  z.object(createShape).refine((body) => body.provider !== 'custom' || body.url !== undefined, {
    path: ['url'],
    error: 'is required for a custom provider',
  }),
).meta({ id: 'CreateProviderKeyBody' })
export type CreateProviderKeyBody = Held<z.input<typeof CreateProviderKeyBody>, vocabulary.CreateProviderKeyBody>

export const UpdateProviderKeyBody = absent({
  name: Name.exactOptional(),
  token: z.string().min(1).exactOptional(),
  url: HttpUrl.exactOptional(),
  defaultModel: z.string().exactOptional().meta({ description: '`""` clears it.' }),
  configuration: JsonObject.exactOptional(),
}).meta({ id: 'UpdateProviderKeyBody' })
export type UpdateProviderKeyBody = Held<z.input<typeof UpdateProviderKeyBody>, vocabulary.UpdateProviderKeyBody>

export const providerKeyRoutes = {
  list: {
    summary: 'List provider keys',
    description: 'Ordered by name. Tokens are masked.',
    responses: withErrors({ 200: z.array(ProviderKey) }),
  },
  create: {
    summary: 'Store a provider key',
    description: 'The token is encrypted and never returned.',
    body: CreateProviderKeyBody,
    responses: withErrors({ 201: orRaw(ProviderKey) }),
  },
  get: {
    summary: 'Get a provider key',
    description: 'The token is masked.',
    pathParams: IdParams,
    responses: withErrors({ 200: ProviderKey }),
  },
  update: {
    summary: 'Change a provider key',
    description:
      'Takes effect with the next model call. A new address (`url`, or `baseUrl` or `resourceName` of the ' +
      'configuration) requires the token again: 400 without it. 409 for keys from the environment.',
    pathParams: IdParams,
    body: UpdateProviderKeyBody,
    responses: withErrors({ 200: ProviderKey }),
  },
  delete: {
    summary: 'Delete a provider key',
    description: 'Returns the deleted key. 409 for keys from the environment.',
    pathParams: IdParams,
    responses: withErrors({ 200: ProviderKey }),
  },
}
