/** What providers need from outside: stored entries, entries of the environment, a sealed box and prices. */
import type { ResolvedProvider } from './model-driver.ts'
import type { ProviderKey } from './provider-key.ts'
import type { Usage } from './usage.ts'

type NewProviderKey = Omit<ProviderKey, 'id' | 'sealedToken' | 'createdAt' | 'updatedAt' | 'lastUsedAt'>

export interface ProviderKeyStore {
  list(workspaceId: number): Promise<ProviderKey[]>
  findOptional(workspaceId: number, id: number): Promise<ProviderKey | null>
  /** Holds the row until the transaction ends, then reads it. */
  lock(workspaceId: number, id: number): Promise<ProviderKey | null>
  /** Takes the id first, since the sealed token is bound to workspace and row. @throws conflict for a taken name. */
  create(workspaceId: number, input: NewProviderKey, seal: (id: number) => string): Promise<ProviderKey>
  update(
    workspaceId: number,
    id: number,
    change: Partial<Omit<ProviderKey, 'id' | 'workspaceId' | 'createdAt'>>,
  ): Promise<ProviderKey>
  delete(workspaceId: number, id: number): Promise<void>
  /** At most once a minute per entry. */
  touch(workspaceId: number, id: number, at: Date): Promise<void>
}

/** Entries that need no row: those of the environment and the built-in `demo`. */
export interface EnvironmentProviders {
  list(): readonly ResolvedProvider[]
  /** The server-wide default entry by name, and default model; undefined when not set. */
  defaultProvider: string | undefined
  defaultModel: string | undefined
  /** When the server started: their `createdAt`. */
  since: Date
}

/** The rules for addresses that the server may call. */
export interface AddressGuard {
  /**
   * `allowed`: the operator lets this host be private.
   * @throws BadRequestError for what is no http or https address, holds credentials, or leads into a private network.
   */
  assertOutboundAddress(url: string): Promise<'public' | 'allowed'>
}

export interface SecretBox {
  /** @param context additional authenticated data, e.g. `workspace:1/provider-key:7`: a moved ciphertext does not open. */
  seal(clear: string, context: string): string
  /** @throws Error when it was changed, moved, or its key is unknown. */
  open(sealed: string, context: string): string
}

export interface PriceQuestion {
  provider: ResolvedProvider
  model: string
  /** What answered, where that is not the name that was asked for. */
  servedModel?: string | undefined
  usage: Usage
  /** Tokens written to the provider's cache, part of the input. */
  cacheWriteTokens?: number
  at: Date
}

export interface PriceBook {
  /** US dollars, rounded to 12 decimals; `known` false (and 0) when there is no price. */
  costOf(question: PriceQuestion): { cost: number; known: boolean }
}
