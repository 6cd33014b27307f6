import type { CreateApiKeyBody, CreatedApiKey, RotateApiKeyBody } from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { ApiKeyInfo } from '../types.ts'

/**
 * The workspace's API keys. Needs the key scope `admin`.
 *
 * @example const { key } = await stet.apiKeys.create({ name: 'web shop', scopes: ['run'], projectId: 1 })
 */
export class ApiKeys {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Lists all API keys, newest first, including revoked ones.
   *
   * @example const unused = (await stet.apiKeys.list()).filter(({ lastUsedAt }) => lastUsedAt === null)
   */
  list(o: RequestOptions = {}): ApiPromise<ApiKeyInfo[]> {
    return this.#api.call('apiKeys.list', {}, o)
  }

  /**
   * Creates an API key. Only this response contains the secret `key`. `limit` requires the pricing plan `custom`.
   *
   * @example
   * const { id, key } = await stet.apiKeys.create({ name: 'ci', scopes: ['write', 'publish'], expiresAt: '2027-01-01T00:00:00Z' })
   */
  create(i: CreateApiKeyBody, o: RequestOptions = {}): ApiPromise<CreatedApiKey> {
    return this.#api.call('apiKeys.create', i, o)
  }

  /**
   * Replaces an API key with a new one. The old API key works for another `overlapSeconds`, 0 by default. Rejects with
   * ConflictError if the API key is revoked or expired.
   *
   * @example const { key } = await stet.apiKeys.rotate(id, { overlapSeconds: 3600 })
   */
  rotate(id: number, o: RequestOptions & RotateApiKeyBody = {}): ApiPromise<CreatedApiKey> {
    return this.#api.call('apiKeys.rotate', { id }, o)
  }

  /**
   * Revokes an API key immediately. Rejects with ConflictError for the last admin key.
   *
   * @example const { revokedAt } = await stet.apiKeys.revoke(id)
   */
  revoke(id: number, o: RequestOptions = {}): ApiPromise<ApiKeyInfo> {
    return this.#api.call('apiKeys.revoke', { id }, o)
  }
}
