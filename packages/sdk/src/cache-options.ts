import type { StetError } from './errors.ts'
import type { Prompt } from './types.ts'

/**
 * Configures where and how long prompts are cached.
 *
 * @example new Stet({ cache: { ttl: 10_000, waitUntil: (work) => context.waitUntil(work) } })
 */
export interface CacheOptions {
  /** Milliseconds after its last fetch during which a cached prompt is fresh. Default: 60_000. */
  ttl?: number
  /**
   * Milliseconds after its last fetch during which a stale prompt may be returned. A request refreshes the prompt in
   * the background. Default: 3_600_000.
   */
  staleTtl?: number
  /** Maximum number of prompts. The least recently used prompt is evicted first. Unused with `store`. Default: 500. */
  max?: number
  /** Default: the memory of this process. */
  store?: CacheStore
  /** Receives the promise of each background refresh, so that the runtime can stay alive until the promise settles. */
  waitUntil?: (p: Promise<unknown>) => void
}

export interface CacheEntry {
  prompt: Prompt
  /** Epoch milliseconds. */
  storedAt: number
  etag?: string
}

/**
 * A prompt store, for example one that several processes share. If the store throws, the client logs the error and
 * calls the server.
 */
export interface CacheStore {
  get(key: string): CacheEntry | undefined | Promise<CacheEntry | undefined>
  /** The store may discard the entry after `ttlMs` milliseconds. */
  set(key: string, e: CacheEntry, ttlMs: number): void | Promise<void>
  /** Deletes every entry whose key starts with the prefix. */
  delete(keyPrefix: string): void | Promise<void>
}

/**
 * The replacement if the cache has no prompt and the server cannot be reached, fails (5xx) or returns 429. Pass a text,
 * a prompt (for example from a snapshot), or a function that receives the error and returns the text.
 */
export type PromptFallback =
  | string
  | (Pick<Prompt, 'content'> & Partial<Prompt>)
  | ((e: StetError) => string | Promise<string>)
