import { z } from 'zod'
import { withErrors } from '../errors.ts'
import { ProviderKind } from './provider-api-keys.ts'

const price = z.number().nonnegative().nullable()

export const ProviderModel = z
  .object({
    id: z.string(),
    inputPrice: price.meta({ description: 'In USD per million tokens; `null` if it is not known.' }),
    outputPrice: price,
    deprecated: z.literal(true).exactOptional().meta({ description: 'The provider has withdrawn it, or will.' }),
  })
  .meta({
    id: 'ProviderModel',
    description: 'A model with its list prices, in US dollars per million tokens. A price is null if it is not known.',
  })

export const Provider = z
  .object({
    name: z.string().meta({ description: 'The name that prompts use as `provider`.' }),
    provider: ProviderKind,
    defaultModel: z.string().nullable(),
    isDemo: z.boolean(),
    models: z.array(ProviderModel).meta({
      description:
        'The models whose prices are known, and the default model. Others can be named too. Newest first, by the version ' +
        'in the name, and deprecated ones last.',
    }),
  })
  .meta({
    id: 'Provider',
    description: 'A provider that prompts can name: a stored provider key, one from the environment, or the demo.',
    example: 'const names = providers.map(({ name }) => name)',
  })

export const ListProvidersQuery = z
  .object({
    modelsOf: ProviderKind.exactOptional().meta({
      description:
        'Lists this type of provider instead, under its own name, with the models whose prices are known. No key of it ' +
        'needs to be stored.',
    }),
  })
  .meta({ id: 'ListProvidersQuery', example: "{ modelsOf: 'anthropic' }" })

export const providerRoutes = {
  list: {
    summary: 'List providers',
    description:
      'The providers that prompts can name, by name: stored provider keys, those from the environment, and the demo. ' +
      'Without addresses and tokens.',
    query: ListProvidersQuery,
    responses: withErrors({ 200: z.array(Provider) }),
  },
}
