import type { ProviderKind } from './provider-keys.ts'

/** A model with its list prices, in US dollars per million tokens. A price is null if it is not known. */
export interface ProviderModel {
  id: string
  inputPrice: number | null
  outputPrice: number | null
}

/**
 * A provider that prompts can name: a stored provider key, one from the environment, or the demo.
 * @example const names = providers.map(({ name }) => name)
 */
export interface Provider {
  /** The name that prompts use as `provider`. */
  name: string
  provider: ProviderKind
  defaultModel: string | null
  isDemo: boolean
  /** The models whose prices are known, and the default model. Others can be named too. */
  models: ProviderModel[]
}

/** @example { modelsOf: 'anthropic' } */
export interface ListProvidersQuery {
  /** Lists this type of provider instead, with its known models, whether or not a key of it is stored. */
  modelsOf?: ProviderKind
}
