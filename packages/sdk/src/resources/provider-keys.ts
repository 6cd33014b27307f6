import type { CreateProviderKeyBody, TestProviderKeyBody, UpdateProviderKeyBody } from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { ProviderKeyInfo, ProviderTest } from '../types.ts'

/**
 * The workspace's provider keys. Needs the key scope `admin`. Tokens are stored encrypted and returned masked.
 *
 * @example
 * const token = process.env.OPENAI_API_KEY ?? ''
 * await stet.providerKeys.create({ name: 'openai', provider: 'openai', token })
 */
export class ProviderKeys {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Lists the stored provider keys, those from the server's environment, and the demo provider, ordered by name.
   *
   * @example const providers = (await stet.providerKeys.list()).map(({ name }) => name)
   */
  list(o: RequestOptions = {}): ApiPromise<ProviderKeyInfo[]> {
    return this.#api.call('providerKeys.list', {}, o)
  }

  /**
   * Returns one provider key with a masked token.
   *
   * @example const { provider, defaultModel } = await stet.providerKeys.get(id)
   */
  get(id: number, o: RequestOptions = {}): ApiPromise<ProviderKeyInfo> {
    return this.#api.call('providerKeys.get', { id }, o)
  }

  /**
   * Stores a provider key. `url` is required for provider `custom`.
   *
   * @example
   * await stet.providerKeys.create({ name: 'local', provider: 'custom', token: 'none', url: 'http://127.0.0.1:11434/v1' })
   */
  create(
    i: Omit<CreateProviderKeyBody, 'provider'> & { provider: string },
    o: RequestOptions = {},
  ): ApiPromise<ProviderKeyInfo> {
    // A newer server may accept provider types that this client does not list.
    return this.#api.call('providerKeys.create', i as CreateProviderKeyBody, o)
  }

  /**
   * Changes only the given fields of a provider key. The change takes effect with the next model call.
   *
   * @example await stet.providerKeys.update(id, { token: newToken })
   */
  update(id: number, i: UpdateProviderKeyBody, o: RequestOptions = {}): ApiPromise<ProviderKeyInfo> {
    return this.#api.call('providerKeys.update', { ...i, id }, o)
  }

  /**
   * Deletes a provider key and returns it.
   *
   * @example await stet.providerKeys.delete(id)
   */
  delete(id: number, o: RequestOptions = {}): ApiPromise<ProviderKeyInfo> {
    return this.#api.call('providerKeys.delete', { id }, o)
  }

  /**
   * Makes one short call with a provider key, also one from the server's environment. A failed call does not reject: the
   * result has its error. The provider may charge for the call.
   *
   * @example const { ok, durationMs, error } = await stet.providerKeys.test({ name: 'openai', model: 'gpt-6-luna' })
   */
  test(i: TestProviderKeyBody, o: RequestOptions = {}): ApiPromise<ProviderTest> {
    return this.#api.call('providerKeys.test', i, o)
  }
}
