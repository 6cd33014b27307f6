/** The kinds of providers. The built-in demo provider is `custom` on the wire. */
export const PROVIDER_KINDS = [
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
] as const
export type ProviderKind = (typeof PROVIDER_KINDS)[number]

/**
 * A provider key: the stored credential of a model provider, and the name that prompts use for it.
 *
 * @example const anthropic = providerKeys.filter(({ provider }) => provider === 'anthropic')
 */
export interface ProviderKey {
  /** 0 for provider keys without a row: those of the environment, and `demo`. */
  id: number
  name: string
  provider: ProviderKind
  /** Masked. */
  token: string
  url: string | null
  defaultModel: string | null
  configuration: Record<string, unknown>
  createdAt: string
  updatedAt: string
  lastUsedAt: string | null
}

/** @example { name: 'OpenAI', provider: 'openai', token: 'sk-…' } */
export interface CreateProviderKeyBody {
  /** The name that prompts use as `provider`; unique, ignoring case. */
  name: string
  provider: ProviderKind
  token: string
  /** The base URL; required for `custom`. */
  url?: string
  defaultModel?: string
  /** Keys of the provider kind, and price overrides. */
  configuration?: Record<string, unknown>
}

/**
 * The body that changes a provider key; absent fields stay unchanged.
 *
 * @example { token: 'sk-…' }
 */
export interface UpdateProviderKeyBody {
  name?: string
  token?: string
  url?: string
  /** An empty string clears it. */
  defaultModel?: string
  configuration?: Record<string, unknown>
}
