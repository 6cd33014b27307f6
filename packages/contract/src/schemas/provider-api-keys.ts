import { z } from 'zod'
import { absent, IdParams, JsonObject, Name, nameText, nullsAbsent, orRaw, Timestamp } from '../common.ts'
import { RunErrorCode, withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'

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
  .meta({ id: 'ProviderKind', description: 'The provider types on the wire. The built-in demo provider is `custom`.' })

export const ProviderKey = z
  .object({
    id: z
      .int32()
      .nonnegative()
      .meta({ description: '0 for provider keys that are not stored: those from the environment, and `demo`.' }),
    name: z.string(),
    provider: ProviderKind,
    token: z.string().meta({ description: 'Masked.' }),
    url: z.string().nullable(),
    defaultModel: z.string().nullable(),
    configuration: JsonObject,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    lastUsedAt: Timestamp.nullable().meta({
      description:
        'For provider keys that are not stored: since the start of the server that responds, by any workspace.',
    }),
  })
  .meta({
    id: 'ProviderKey',
    description: 'A credential of a model provider. Prompts refer to the provider key by `name`.',
    example: "const anthropic = providerKeys.filter(({ provider }) => provider === 'anthropic')",
  })

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
).meta({ id: 'CreateProviderKeyBody', example: "{ name: 'OpenAI', provider: 'openai', token: 'sk-…' }" })

export const UpdateProviderKeyBody = absent({
  name: Name.exactOptional(),
  token: z.string().min(1).exactOptional(),
  url: HttpUrl.exactOptional(),
  defaultModel: z.string().exactOptional().meta({ description: '`""` clears it.' }),
  configuration: JsonObject.exactOptional(),
}).meta({
  id: 'UpdateProviderKeyBody',
  description: 'Changes a provider key. Absent fields stay unchanged.',
  example: "{ token: 'sk-…' }",
})

export const TestProviderKeyBody = absent({
  name: Name.meta({ description: 'The name that prompts use as `provider`, ignoring case.' }),
  model: nameText({ min: 1, max: LIMITS.nameLength })
    .exactOptional()
    .meta({ description: 'Default: the default model of the provider key, then that of the server.' }),
}).meta({ id: 'TestProviderKeyBody', example: "{ name: 'openai', model: 'gpt-6-luna' }" })

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
  .meta({ id: 'ProviderTest', description: 'The result of one call to a provider. A failed call is a result too.' })

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
