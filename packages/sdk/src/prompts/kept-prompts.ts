import { PromptCache } from '../cache/prompt-cache.ts'
import type { CacheOptions } from '../cache-options.ts'
import { hexOf, randomUuid } from '../runtime.ts'
import type { Exchange } from '../transport/exchange.ts'
import { requestHeaders } from '../transport/headers.ts'
import type { Settings } from '../transport/settings.ts'

export function cacheOf({ prompts }: Settings, { max }: CacheOptions): PromptCache {
  prompts.cache ??= new PromptCache(max)
  return prompts.cache
}

/** Returns the start of a cache key: a hash of the API key. Clients with other API keys therefore find no entry. */
export async function keyPrefix(settings: Settings, exchange: Exchange): Promise<string> {
  const { prompts } = settings
  const headers = await requestHeaders(settings, exchange, 0, null)
  const authorization = headers.get('authorization') ?? ''
  // Store the promise, so that concurrent calls share one hash computation.
  if (prompts.caller?.authorization !== authorization) {
    // If the runtime cannot hash, a random id keeps the entries private to this client.
    prompts.caller = { authorization, hash: sha256(authorization).then((hash) => hash || randomUuid()) }
  }
  return `${(await prompts.caller.hash).slice(0, 16)}|`
}

export function cacheOptions(settings: Settings, own: boolean | CacheOptions | undefined): CacheOptions {
  return { ...(settings.cache as object), ...(own as object) }
}

/** Returns the hash in hex, or an empty string in pages served over plain HTTP, which cannot hash. */
export async function sha256(text: string): Promise<string> {
  if (!crypto.subtle) return ''
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
