import type { ApiPromise } from '../api-promise.ts'
import type { RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { ProviderKeyInfo } from '../types.ts'

interface ProviderKeyChanges {
  name?: string
  token?: string
  url?: string
  defaultModel?: string
  configuration?: Record<string, unknown>
}

/**
 * The model providers of the workspace; needs the scope `admin`. Tokens are stored encrypted and come back masked.
 *
 * @example await stet.providerKeys.create({ name: 'openai', provider: 'openai', token: process.env.OPENAI_API_KEY })
 */
export class ProviderKeys {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Stored entries and those of the server's own settings, by name. */
  list(o: RequestOptions = {}): ApiPromise<ProviderKeyInfo[]> {
    return this.#api.call('providerKeys.list', {}, o)
  }

  get(id: number, o: RequestOptions = {}): ApiPromise<ProviderKeyInfo> {
    return this.#api.call('providerKeys.get', { id }, o)
  }

  /** A new entry; `url` is required for provider `custom`. */
  create(
    i: ProviderKeyChanges & { name: string; provider: string; token: string },
    o: RequestOptions = {},
  ): ApiPromise<ProviderKeyInfo> {
    return this.#api.call('providerKeys.create', i, o)
  }

  /** Changes what is given; the next model call uses it. */
  update(id: number, i: ProviderKeyChanges, o: RequestOptions = {}): ApiPromise<ProviderKeyInfo> {
    return this.#api.call('providerKeys.update', { ...i, id }, o)
  }

  /** Deletes an entry and answers it as it was. */
  delete(id: number, o: RequestOptions = {}): ApiPromise<ProviderKeyInfo> {
    return this.#api.call('providerKeys.delete', { id }, o)
  }
}
