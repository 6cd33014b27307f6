import type { StetError } from '../errors.ts'
import type { Prompt } from '../types.ts'

/**
 * How long and where prompts are cached.
 *
 * @example new Stet({ cache: { ttl: 10_000, waitUntil: (work) => context.waitUntil(work) } })
 */
export interface CacheOptions {
  /** Milliseconds for which a cached prompt is fresh, 60_000 */
  ttl?: number
  /** Milliseconds for which an older prompt is still returned, and renewed in the background, 3_600_000 */
  staleTtl?: number
  /** Maximum number of prompts (500); the least recently used are dropped first. A custom store has its own limit */
  max?: number
  /** The store for prompts. Default: the memory of this process. */
  store?: CacheStore
  /** Keeps the runtime alive for a renewal in the background. */
  waitUntil?: (p: Promise<unknown>) => void
}

/** A kept prompt. */
export interface CacheEntry {
  prompt: Prompt
  /** Epoch milliseconds. */
  storedAt: number
  etag?: string
}

/**
 * A store for prompts, for example one shared by many processes. If it throws, the error is logged and the server is
 * called.
 */
export interface CacheStore {
  get(key: string): CacheEntry | undefined | Promise<CacheEntry | undefined>
  /** The entry is useless after `ttlMs`. */
  set(key: string, e: CacheEntry, ttlMs: number): void | Promise<void>
  /** Deletes every entry whose key has this prefix. */
  delete(keyPrefix: string): void | Promise<void>
}

/**
 * Used if neither the server nor the cache has the prompt. A text, a prompt (for example from a snapshot), or a
 * function that gets the error and returns the text.
 */
export type PromptFallback =
  | string
  | (Pick<Prompt, 'content'> & Partial<Prompt>)
  | ((e: StetError) => string | Promise<string>)
