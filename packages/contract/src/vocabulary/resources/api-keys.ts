import type { KeyPlan } from '../plans.ts'
import type { KeyScope } from '../scopes.ts'

/**
 * An API key without its secret.
 *
 * @example const expired = keys.filter(({ expiresAt }) => expiresAt !== null && expiresAt < new Date().toISOString())
 */
export interface ApiKey {
  id: number
  name: string
  /** The start of the key, to recognize it by. */
  prefix: string
  scopes: KeyScope[]
  /** The only project that the key can access; null: all projects. */
  projectId: number | null
  plan: KeyPlan
  /** Requests per second. */
  limit: number
  author: { id: number; name: string; email: string }
  expiresAt: string | null
  lastUsedAt: string | null
  revokedAt: string | null
  createdAt: string
}

/**
 * A new API key. `key` is the secret; no later response shows it.
 *
 * @example const { key } = created // stet_…
 */
export interface CreatedApiKey extends ApiKey {
  key: string
}

/**
 * The body that creates an API key. `limit` is required for the plan `custom` and refused for the others.
 *
 * @example { name: 'ci', scopes: ['read', 'run'], expiresAt: '2030-01-01T00:00:00.000Z' }
 */
export interface CreateApiKeyBody {
  name: string
  /** Default: read, run, write, publish. */
  scopes?: KeyScope[]
  projectId?: number
  expiresAt?: string
  /** Default: team. */
  plan?: KeyPlan
  limit?: number
}

/**
 * The body that replaces an API key with a new one.
 *
 * @example { overlapSeconds: 3600 }
 */
export interface RotateApiKeyBody {
  /** How long the old key keeps working. */
  overlapSeconds?: number
}

/**
 * The calling key, its workspace and its rate limit.
 *
 * @example const canPublish = me.apiKey.scopes.includes('publish')
 */
export interface Me {
  apiKey: ApiKey
  workspace: { id: number; name: string }
  rateLimit: { limit: number; windowSeconds: 1 }
  /** Features of this server beyond the first release. */
  features: string[]
}

/** The response of `GET /health`. */
export interface Health {
  status: 'ok'
  version: string
  features: string[]
}
