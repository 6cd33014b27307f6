import type { LRUCache } from 'lru-cache'
import type { ModelDriver, ModelDrivers, ProviderSettings } from './model-driver.ts'
import type { ProviderKey } from './provider-key.ts'
import type { Usage } from './usage.ts'

type NewProviderKey = Omit<ProviderKey, 'id' | 'sealedToken' | 'createdAt' | 'updatedAt' | 'lastUsedAt'>

export interface ProviderKeyStore {
  list(workspaceId: number): Promise<ProviderKey[]>
  findOptional(workspaceId: number, id: number): Promise<ProviderKey | null>
  lock(workspaceId: number, id: number): Promise<ProviderKey | null>
  /** Calls `seal` with the new id, because the token is bound to the id. @throws ConflictError for a taken name. */
  create(workspaceId: number, input: NewProviderKey, seal: (id: number) => string): Promise<ProviderKey>
  update(
    workspaceId: number,
    id: number,
    change: Partial<Omit<ProviderKey, 'id' | 'workspaceId' | 'createdAt'>>,
  ): Promise<ProviderKey>
  delete(workspaceId: number, id: number): Promise<void>
  /** Sets `lastUsedAt`. */
  touch(workspaceId: number, id: number, at: Date): Promise<void>
}

export interface EnvironmentProviders {
  list: readonly ProviderSettings[]
  defaultProvider: string | undefined
  defaultModel: string | undefined
  since: Date
  /** When each of them was last used by this server since its start, by name. */
  usedAt: Map<string, Date>
}

export interface AddressGuard {
  /**
   * Returns `allowed` for a host that the operator lists as allowed, and `public` for any other accepted address.
   * @throws BadRequestError for an invalid URL, a scheme other than http or https, credentials, or a private address.
   */
  assertOutboundAddress(url: string): Promise<'public' | 'allowed'>
}

export interface SecretBox {
  /** @param context authenticated with the text, so that `open` fails with any other context. */
  seal(clear: string, context: string): string
  /** @throws Error for a changed ciphertext, another context, or an unknown encryption key. */
  open(sealed: string, context: string): string
}

export interface PricedCall {
  model: string
  /** The model behind a deployment, if the provider's response names the model. */
  servedModel?: string | undefined
  usage: Usage
  /** Tokens written to the provider's cache. `usage` counts these tokens as input. */
  cacheWriteTokens?: number | undefined
  at: Date
}

export interface ModelPrices {
  /** Cost in US dollars, rounded to 12 decimals. Without a price, `known` is false and `cost` is 0. */
  costOf(call: PricedCall): { cost: number; known: boolean }
}

/** Prices are in US dollars per million tokens, or null if they are not known. */
export interface PricedModel {
  id: string
  inputPrice: number | null
  outputPrice: number | null
  deprecated?: true
}

/** The part of a provider that decides its prices. */
export type PricedProvider = Pick<ProviderSettings, 'kind' | 'isDemo' | 'url' | 'defaultModel' | 'configuration'>

export interface PriceBook {
  /** Lists the models with a price at that time, and the default model. Newest first, deprecated ones last. */
  listModels(provider: PricedProvider, at: Date): PricedModel[]
  /** Set if the list of the provider's models has no such name: then with the most similar one. */
  findUnknown(provider: PricedProvider, model: string, at: Date): { near: string | undefined } | undefined
  pricesOf(provider: ProviderSettings): ModelPrices
}

export interface ResolvedProvider extends Pick<ProviderSettings, 'name' | 'kind' | 'isDemo'> {
  driver: ModelDriver
  prices: ModelPrices
}

/** Keyed by `ProviderEntry.revision`, so that a changed provider key is resolved again. */
export type ResolvedProviders = LRUCache<string, { provider: ResolvedProvider; notedUseAt: number }>

export interface ProviderDeps {
  drivers: ModelDrivers
  resolved: ResolvedProviders
  environment: EnvironmentProviders
  addressGuard: AddressGuard
  prices: PriceBook
  /** How long the call of a test may take. */
  testLimitMs: number
}
