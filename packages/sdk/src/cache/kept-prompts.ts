import { hexOf, randomUuid } from '../runtime.ts'
import type { Settings } from '../settings.ts'
import type { Exchange } from '../transport/exchange.ts'
import { requestHeaders } from '../transport/headers.ts'
import type { CacheOptions } from './cache-options.ts'
import { PromptCache } from './prompt-cache.ts'

/** The cache of a client and of those made from it. */
export function cacheOf({ prompts }: Settings, { max }: CacheOptions): PromptCache {
  prompts.cache ??= new PromptCache(max)
  return prompts.cache
}

/** Prefix of all cache keys of an API key, so that its prompts are not shown to another. */
export async function keyPrefix(settings: Settings, exchange: Exchange): Promise<string> {
  const { prompts } = settings
  const headers = await requestHeaders(settings, exchange, 0, null)
  const authorization = headers.get('authorization') ?? ''
  // stores the promise rather than its result, so that concurrent calls share one request
  if (prompts.caller?.authorization !== authorization) {
    // without a hash of the key, only this caller may find its entries
    prompts.caller = { authorization, hash: sha256(authorization).then((hash) => hash || randomUuid()) }
  }
  return `${(await prompts.caller.hash).slice(0, 16)}|`
}

/** The options of a call over those of the client. */
export function cacheOptions(settings: Settings, own: boolean | CacheOptions | undefined): CacheOptions {
  return { ...(settings.cache as object), ...(own as object) }
}

/** Empty in a page over plain http, which cannot compute it. */
export async function sha256(text: string): Promise<string> {
  if (!crypto.subtle) return ''
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
