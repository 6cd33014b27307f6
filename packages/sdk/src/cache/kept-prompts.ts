import { hexOf, randomUuid } from '../runtime.ts'
import type { Settings } from '../settings.ts'
import type { Exchange } from '../transport/exchange.ts'
import { requestHeaders } from '../transport/headers.ts'
import type { CacheOptions } from './cache-options.ts'
import { PromptCache } from './prompt-cache.ts'

/** The cache of a client and of the clients derived from it. */
export function cacheOf({ prompts }: Settings, { max }: CacheOptions): PromptCache {
  prompts.cache ??= new PromptCache(max)
  return prompts.cache
}

/** The prefix of all cache keys of an API key, so that other keys cannot see its prompts. */
export async function keyPrefix(settings: Settings, exchange: Exchange): Promise<string> {
  const { prompts } = settings
  const headers = await requestHeaders(settings, exchange, 0, null)
  const authorization = headers.get('authorization') ?? ''
  // Stores the promise, so that concurrent calls share one request.
  if (prompts.caller?.authorization !== authorization) {
    // If the key cannot be hashed, a random id keeps the entries private to this client.
    prompts.caller = { authorization, hash: sha256(authorization).then((hash) => hash || randomUuid()) }
  }
  return `${(await prompts.caller.hash).slice(0, 16)}|`
}

/** The options of a call, with the client's options as defaults. */
export function cacheOptions(settings: Settings, own: boolean | CacheOptions | undefined): CacheOptions {
  return { ...(settings.cache as object), ...(own as object) }
}

/** Empty in a page over plain http, which cannot compute a hash. */
export async function sha256(text: string): Promise<string> {
  if (!crypto.subtle) return ''
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
