import type { Outcome } from '../api-promise.ts'
import type { CacheEntry, CacheOptions, CacheStore } from '../cache-options.ts'
import { ApiError } from '../errors.ts'
import type { Logger } from '../options.ts'
import type { FetchedPrompt, Prompt } from '../types.ts'
import { MemoryStore } from './memory-store.ts'
import type { Outages } from './outages.ts'

const TTL_MS = 60_000
const STALE_TTL_MS = 3_600_000
const MAX_PROMPTS = 500
const PAUSE_AFTER_FAILURE_MS = 5000

/** The state that a client shares with its derived clients. The cache is created on first use. */
export interface CacheSlot {
  cache?: PromptCache
  /** The hash of the last API key, kept because hashing costs more than the rest of a cache hit. */
  caller?: { authorization: string; hash: Promise<string> }
  outages?: Outages
  /** The warnings that were logged, so that each is logged once. */
  warned?: Set<string>
}

/** Calls the server. Returns undefined if the prompt with this ETag is still current. */
export type Load = (etag: string | undefined) => Promise<Outcome<Prompt> | undefined>

export interface CacheRequest {
  key: string
  /** The key, or a longer one for a request that only some callers of the key may share. */
  flight: string
  load: Load
  options: CacheOptions
  now: () => number
  logger: Logger
}

/**
 * Caches prompts for a client and its derived clients. Returns fresh prompts without a request. Also returns stale
 * prompts, while one request refreshes the prompt. Concurrent misses of the same prompt share one request.
 */
export class PromptCache {
  readonly #memory: CacheStore
  readonly #flights = new Map<string, Promise<Outcome<FetchedPrompt>>>()
  /** By key: when the next refresh may start after a failed one, in epoch milliseconds. */
  readonly #pauses = new Map<string, number>()

  constructor(max = MAX_PROMPTS) {
    this.#memory = new MemoryStore(max)
  }

  async get(request: CacheRequest): Promise<Outcome<FetchedPrompt>> {
    const { key, flight, options, now } = request
    const { ttl = TTL_MS, staleTtl = STALE_TTL_MS, waitUntil } = options
    const entry = await this.#try(request, (store) => store.get(key))
    const age = entry && now() - entry.storedAt
    if (!entry || age === undefined || age >= Math.max(ttl, staleTtl)) return this.#fly(request)
    if (age < ttl) return outcomeOf(entry, 'cache')
    if (!this.#flights.has(flight) && now() >= (this.#pauses.get(key) ?? 0)) {
      const renewal = this.#fly(request, entry).catch((error: unknown) => this.#keep(request, error))
      waitUntil?.(renewal)
    }
    return outcomeOf(entry, 'stale')
  }

  /** Evicts every prompt with this key prefix. The results of their pending requests are not stored. */
  async drop(keyPrefix: string, about: Pick<CacheRequest, 'options' | 'logger'>): Promise<void> {
    for (const key of this.#flights.keys()) if (key.startsWith(keyPrefix)) this.#flights.delete(key)
    await this.#try(about, (store) => store.delete(keyPrefix))
  }

  #fly(request: CacheRequest, known?: CacheEntry): Promise<Outcome<FetchedPrompt>> {
    const name = request.flight
    const under = this.#flights.get(name)
    if (under) return under
    const flight: Promise<Outcome<FetchedPrompt>> = this.#load(
      request,
      known,
      () => this.#flights.get(name) === flight,
    ).finally(() => {
      if (this.#flights.get(name) === flight) this.#flights.delete(name)
    })
    this.#flights.set(name, flight)
    return flight
  }

  async #load(
    request: CacheRequest,
    known: CacheEntry | undefined,
    isWanted: () => boolean,
  ): Promise<Outcome<FetchedPrompt>> {
    const { key, load, options, now } = request
    const { ttl = TTL_MS, staleTtl = STALE_TTL_MS } = options
    const outcome = await load(known?.etag)
    const etag = outcome?.response.headers.get('etag')
    // A load without an outcome means 304, which requires a stored entry.
    const prompt = (outcome?.data ?? known?.prompt) as Prompt
    const entry = { ...(known?.etag && { etag: known.etag }), ...(etag && { etag }), prompt, storedAt: now() }
    this.#pauses.delete(key)
    // If a write dropped this request in the meantime, the result may be outdated and is not stored.
    if (isWanted()) await this.#try(request, (store) => store.set(key, entry, Math.max(ttl, staleTtl)))
    const fetched = outcomeOf(entry, 'network')
    return outcome ? { ...fetched, response: outcome.response } : fetched
  }

  /** Handles a failed refresh. Drops the cached prompt after a 404, and otherwise keeps the prompt. */
  async #keep(request: CacheRequest, error: unknown): Promise<void> {
    const { key, now, logger } = request
    if (error instanceof ApiError && error.status === 404) return this.drop(key, request)
    if (this.#pauses.size >= MAX_PROMPTS) this.#pauses.clear()
    this.#pauses.set(key, now() + PAUSE_AFTER_FAILURE_MS)
    logger.info(`A kept prompt could not be renewed: ${error}`)
  }

  /** Logs an exception of the store and returns undefined, as for an empty store. */
  async #try<T>({ options, logger }: Pick<CacheRequest, 'options' | 'logger'>, use: (store: CacheStore) => T) {
    try {
      return await use(options.store ?? this.#memory)
    } catch (error) {
      logger.warn('The prompt store failed', error)
      return undefined
    }
  }
}

function outcomeOf({ prompt, storedAt }: CacheEntry, source: FetchedPrompt['source']): Outcome<FetchedPrompt> {
  // Copy the prompt, so that changes by one caller do not affect others.
  const data = { ...(JSON.parse(JSON.stringify(prompt)) as Prompt), source, fetchedAt: storedAt }
  return {
    data,
    get response() {
      return Response.json(prompt)
    },
  }
}
