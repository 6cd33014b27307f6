import type { KeyPlan } from '../plans.ts'
import type { KeyScope } from '../scopes.ts'
import type { Person } from './person.ts'

/** @example const expired = keys.filter(({ expiresAt }) => expiresAt !== null && expiresAt < new Date().toISOString()) */
export interface ApiKey {
  id: number
  name: string
  prefix: string
  scopes: KeyScope[]
  /** The only project that the key can access. Null means all projects. */
  projectId: number | null
  plan: KeyPlan
  /** Requests per second. */
  limit: number
  author: Person
  expiresAt: string | null
  lastUsedAt: string | null
  revokedAt: string | null
  createdAt: string
}

/**
 * A new API key. Only this response contains the secret `key`.
 * @example const { key } = created // stet_…
 */
export interface CreatedApiKey extends ApiKey {
  key: string
}

/**
 * Creates an API key. `limit` is required for the pricing plan `custom` and refused for all other pricing plans.
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
  /**
   * The person whom the key acts for, found by email without case, otherwise created. Default: the author with the
   * name of the key.
   */
  author?: { name: string; email: string }
}

/** @example { overlapSeconds: 3600 } */
export interface RotateApiKeyBody {
  /** Seconds for which the old key stays valid. Default: 0. */
  overlapSeconds?: number
}

/** @example const canPublish = me.apiKey.scopes.includes('publish') */
export interface Me {
  apiKey: ApiKey
  workspace: { id: number; name: string }
  rateLimit: { limit: number; windowSeconds: 1 }
  /** Features that this server has beyond the first release. */
  features: string[]
}

export interface Health {
  status: 'ok'
  version: string
  features: string[]
}
