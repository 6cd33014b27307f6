import type { ListProvidersQuery } from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { Provider } from '../types.ts'

/**
 * The providers that prompts can name. Needs only the key scope `read`; `providerKeys` has their settings.
 *
 * @example const demo = (await stet.providers.list()).find(({ isDemo }) => isDemo)
 */
export class Providers {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Lists the stored provider keys, those from the server's environment, and the demo provider, by name, each with the
   * models whose prices are known. With `modelsOf`, lists only this type of provider, whether or not a key is stored.
   *
   * @example const names = (await stet.providers.list()).map(({ name }) => name)
   */
  list(o: RequestOptions & ListProvidersQuery = {}): ApiPromise<Provider[]> {
    return this.#api.call('providers.list', {}, o)
  }
}
