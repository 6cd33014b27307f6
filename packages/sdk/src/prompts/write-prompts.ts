import { ApiPromise } from '../api-promise.ts'
import type { OperationName, OperationTypes } from '../operations.ts'
import type { RequestOptions } from '../options.ts'
import type { Api, Fields } from '../transport/api.ts'

/** Calls an operation that changes prompts. Evicts these prompts from the cache even if the operation fails. */
export function writePrompts<K extends OperationName, O extends RequestOptions>(
  api: Api,
  name: K,
  fields: Fields<K, O>,
  options: O,
): ApiPromise<OperationTypes[K]['result']> {
  const outcome = api.answer<OperationTypes[K]['result']>(name, fields, options)
  const drop = async () => {
    const { prompts, cache } = api.settings
    if (prompts.cache ?? cache) {
      const { dropWritten } = await import('./drop-written.ts')
      await dropWritten(api.settings, api.exchange(name, fields, options), outcome)
    }
  }
  return new ApiPromise(outcome.finally(drop))
}
