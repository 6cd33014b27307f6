import type { LRUCache } from 'lru-cache'
import type { ModelDriver, ModelDrivers, ProviderSettings } from './model-driver.ts'
import type { ProviderKey } from './provider-key.ts'
import type { Usage } from './usage.ts'

type NewProviderKey = Omit<ProviderKey, 'id' | 'sealedToken' | 'createdAt' | 'updatedAt' | 'lastUsedAt'>

export interface ProviderKeyStore {
  list(workspaceId: number): Promise<ProviderKey[]>
  findOptional(workspaceId: number, id: number): Promise<ProviderKey | null>
  lock(workspaceId: number, id: number): Promise<ProviderKey | null>
  /** Allocates the id first, because the sealed token is bound to it. @throws ConflictError for a taken name. */
  create(workspaceId: number, input: NewProviderKey, seal: (id: number) => string): Promise<ProviderKey>
  update(
    workspaceId: number,
    id: number,
    change: Partial<Omit<ProviderKey, 'id' | 'workspaceId' | 'createdAt'>>,
  ): Promise<ProviderKey>
  delete(workspaceId: number, id: number): Promise<void>
  /** Called at most once a minute per key. */
  touch(workspaceId: number, id: number, at: Date): Promise<void>
}

export interface EnvironmentProviders {
  list: readonly ProviderSettings[]
  defaultProvider: string | undefined
  defaultModel: string | undefined
  since: Date
}

export interface AddressGuard {
  /**
   * Returns `allowed` for a private host that the operator allows.
   * @throws BadRequestError for addresses that are private, contain credentials, or use neither http nor https.
   */
  assertOutboundAddress(url: string): Promise<'public' | 'allowed'>
}

export interface SecretBox {
  /** @param context is authenticated with the text, so that a ciphertext cannot be moved to another context. */
  seal(clear: string, context: string): string
  /** @throws Error for a changed or moved ciphertext and for an unknown encryption key. */
  open(sealed: string, context: string): string
}

export interface PricedCall {
  model: string
  /** The model name in the provider's response, if it differs. */
  servedModel?: string | undefined
  usage: Usage
  /** Tokens written to the provider's cache. They are part of the input. */
  cacheWriteTokens?: number | undefined
  at: Date
}

export interface ModelPrices {
  /** Cost in US dollars, rounded to 12 decimals. Without a price, `known` is false and `cost` is 0. */
  costOf(call: PricedCall): { cost: number; known: boolean }
}

export interface PriceBook {
  pricesOf(provider: ProviderSettings): ModelPrices
}

export interface ResolvedProvider {
  name: string
  kind: string
  driver: ModelDriver
  prices: ModelPrices
}

/** Keyed by the provider key's revision, so a changed key always misses. */
export type ResolvedProviders = LRUCache<string, { provider: ResolvedProvider; notedUseAt: number }>

export interface ProviderDeps {
  drivers: ModelDrivers
  resolved: ResolvedProviders
  environment: EnvironmentProviders
  addressGuard: AddressGuard
  prices: PriceBook
}
