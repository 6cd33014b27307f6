import type { RunErrorCode } from '../error-codes.ts'

/** The provider types on the wire. The built-in demo provider is `custom`. */
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
 * A credential of a model provider. Prompts refer to the provider key by `name`.
 * @example const anthropic = providerKeys.filter(({ provider }) => provider === 'anthropic')
 */
export interface ProviderKey {
  /** 0 for provider keys that are not stored: those from the environment, and `demo`. */
  id: number
  name: string
  provider: ProviderKind
  /** The masked token. */
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
  /** Prompts use this name as `provider`. Names are unique, ignoring case. */
  name: string
  provider: ProviderKind
  token: string
  /** The base URL; required for `custom`. */
  url?: string
  defaultModel?: string
  /** Options of the provider type, and price overrides. */
  configuration?: Record<string, unknown>
}

/**
 * Changes a provider key. Absent fields stay unchanged.
 * @example { token: 'sk-…' }
 */
export interface UpdateProviderKeyBody {
  name?: string
  token?: string
  url?: string
  /** An empty string clears the default model. */
  defaultModel?: string
  configuration?: Record<string, unknown>
}

/** @example { name: 'openai', model: 'gpt-6-luna' } */
export interface TestProviderKeyBody {
  /** The name that prompts use as `provider`. */
  name: string
  /** Default: the default model of the provider key, then that of the server. */
  model?: string
}

/** The result of one call to a provider. A failed call is a result too. */
export interface ProviderTest {
  ok: boolean
  provider: ProviderKind
  model: string
  durationMs: number
  /** Null if no text arrived. */
  firstTokenMs: number | null
  /** The first characters of the response. */
  text: string
  /** Null if the call succeeded. The message has the provider's own words. */
  error: { errorCode: RunErrorCode; message: string } | null
}
