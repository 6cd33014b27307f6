/** Ports of providers: stored keys, providers of the environment, encryption and prices. */
import type { LRUCache } from 'lru-cache'
import type { ModelDriver, ModelDrivers, ProviderSettings } from './model-driver.ts'
import type { ProviderKey } from './provider-key.ts'
import type { Usage } from './usage.ts'

type NewProviderKey = Omit<ProviderKey, 'id' | 'sealedToken' | 'createdAt' | 'updatedAt' | 'lastUsedAt'>

export interface ProviderKeyStore {
  list(workspaceId: number): Promise<ProviderKey[]>
  findOptional(workspaceId: number, id: number): Promise<ProviderKey | null>
  /** Locks the row until the transaction ends. */
  lock(workspaceId: number, id: number): Promise<ProviderKey | null>
  /** Allocates the id first, because the sealed token is bound to it. @throws ConflictError for a taken name. */
  create(workspaceId: number, input: NewProviderKey, seal: (id: number) => string): Promise<ProviderKey>
  update(
    workspaceId: number,
    id: number,
    change: Partial<Omit<ProviderKey, 'id' | 'workspaceId' | 'createdAt'>>,
  ): Promise<ProviderKey>
  delete(workspaceId: number, id: number): Promise<void>
  /** At most once a minute per key. */
  touch(workspaceId: number, id: number, at: Date): Promise<void>
}

/** Providers that are not stored: those of the environment and the built-in `demo`. */
export interface EnvironmentProviders {
  list(): readonly ProviderSettings[]
  /** The server-wide defaults. */
  defaultProvider: string | undefined
  defaultModel: string | undefined
  /** The start of the server, shown as their `createdAt`. */
  since: Date
}

/** The rules for addresses that the server may call. */
export interface AddressGuard {
  /**
   * `allowed`: the operator allows this host to be private.
   * @throws BadRequestError for addresses that are not http or https, contain credentials or are private.
   */
  assertOutboundAddress(url: string): Promise<'public' | 'allowed'>
}

export interface SecretBox {
  /** @param context authenticated with the text, e.g. `workspace:1/provider-key:7`, so a moved ciphertext does not open. */
  seal(clear: string, context: string): string
  /** @throws Error for a changed or moved ciphertext and for an unknown key. */
  open(sealed: string, context: string): string
}

export interface PricedCall {
  model: string
  /** The model that answered, if the provider reports another name. */
  servedModel?: string | undefined
  usage: Usage
  /** Tokens written to the provider's cache, part of the input. */
  cacheWriteTokens?: number | undefined
  at: Date
}

/** The prices of one provider key. */
export interface ModelPrices {
  /** US dollars, rounded to 12 decimals. Without a price, `known` is false and `cost` is 0. */
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

/** Keyed by the revision of the provider key, so that a changed key is never found. */
export type ResolvedProviders = LRUCache<string, { provider: ResolvedProvider; notedUseAt: number }>

/** The dependencies of provider calls. */
export interface ProviderDeps {
  drivers: ModelDrivers
  resolved: ResolvedProviders
  environment: EnvironmentProviders
  addressGuard: AddressGuard
  prices: PriceBook
}
