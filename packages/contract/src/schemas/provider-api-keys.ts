import { z } from 'zod'
import {
  absent,
  type Held,
  IdParams,
  JsonObject,
  LIMITS,
  Name,
  nameText,
  nullsAbsent,
  orRaw,
  Timestamp,
} from '../common.ts'
import { RunErrorCode, withErrors } from '../errors.ts'
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

export const TestProviderKeyBody = absent({
  name: Name.meta({ description: 'The name that prompts use as `provider`, ignoring case.' }),
  model: nameText({ min: 1, max: LIMITS.nameLength })
    .exactOptional()
    .meta({ description: 'Default: the default model of the provider key, then that of the server.' }),
}).meta({ id: 'TestProviderKeyBody' })
export type TestProviderKeyBody = Held<z.input<typeof TestProviderKeyBody>, vocabulary.TestProviderKeyBody>

const milliseconds = z.int().nonnegative()

export const ProviderTest = z
  .object({
    ok: z.boolean(),
    provider: ProviderKind,
    model: z.string(),
    durationMs: milliseconds,
    firstTokenMs: milliseconds.nullable().meta({ description: '`null` if no text arrived.' }),
    text: z.string().meta({ description: 'The first characters of the response.' }),
    error: z
      .object({ errorCode: RunErrorCode, message: z.string() })
      .nullable()
      .meta({ description: "`null` if the call succeeded. The message has the provider's own words." }),
  })
  .meta({ id: 'ProviderTest' })
export type ProviderTest = Held<z.infer<typeof ProviderTest>, vocabulary.ProviderTest>

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
  test: {
    summary: 'Test a provider key',
    description:
      'Makes one call of at most 16 output tokens and 20 seconds, also for providers from the environment. ' +
      'A failed call is a result with `error`. The provider may charge for the call.',
    body: TestProviderKeyBody,
    responses: withErrors({ 200: ProviderTest }),
  },
}
