/**
 * The cache of one server, kept current by a drop log that all servers share. A server reads the drop log before it
 * uses the cache for a request, so the request sees every write whose response was sent before the request began.
 */
import type { LiveCache } from '../../features/deps.ts'
import { createLiveCache } from '../in-process/live-cache.ts'
import { type RedisConnections, RedisTimeout } from './connections.ts'

/** Approximate length of the drop log. A server that missed more drops clears its whole cache. */
const keptDrops = 10_000
const entriesPerRead = 1_000
/** Bounds the time that other servers use old values if a server writes without Redis and dies before it reconnects. */
const maxAgeMs = 60_000
/** The maximum age of cached values while Redis is unavailable. */
const withoutRedisMs = 5_000
/** Maximum number of unsent drops while Redis is unavailable. Beyond it, all servers clear their caches. */
const maxUnsent = 10_000
const everything = '*'

type Entry = [id: string, fields: string[]]

export interface SharedLiveCache extends LiveCache {
  sync(): Promise<void>
}

export function createSharedLiveCache(connections: Pick<RedisConnections, 'requests' | 'prefix'>): SharedLiveCache {
  const local = createLiveCache({ maxAgeMs })
  const log = new DropLog(connections)
  let unsent = new Set<string>()
  let clearedAt = Number.NEGATIVE_INFINITY
  let next: Promise<void> | undefined

  const clear = () => {
    local.clear()
    clearedAt = performance.now()
  }
  const apply = (scope: string) => (scope === everything ? clear() : local.dropHere(scope))
  const send = async (scopes: ReadonlySet<string>) => {
    try {
      await log.add(scopes)
    } catch (error) {
      for (const scope of scopes) unsent.add(scope)
      if (unsent.size > maxUnsent) unsent = new Set([everything])
      throw error
    }
  }
  const sendUnsent = async () => {
    const scopes = unsent
    unsent = new Set()
    if (scopes.size > 0) await send(scopes)
  }
  const syncOrAge = async () => {
    try {
      await sendUnsent()
      for (const scope of await log.read()) apply(scope)
    } catch (error) {
      log.lose()
      // Fails all later commands immediately until Redis answers again, so that a request waits only once.
      if (error instanceof RedisTimeout) connections.requests.disconnect(true)
      if (performance.now() - clearedAt >= withoutRedisMs) clear()
    }
  }

  return {
    ...local,
    async drop(scope) {
      local.dropHere(scope)
      await send(new Set([scope])).catch(() => undefined)
    },
    // Requests of one tick share a read, because none of them began after it was sent.
    sync() {
      next ??= Promise.resolve().then(() => {
        next = undefined
        return syncOrAge()
      })
      return next
    },
  }
}

/** The drops of all servers, in a Redis Stream. */
class DropLog {
  readonly #redis: RedisConnections['requests']
  readonly #key: string
  /** The last entry that was read; undefined before the first read and after a failure. */
  #last: string | undefined

  constructor({ requests, prefix }: Pick<RedisConnections, 'requests' | 'prefix'>) {
    this.#redis = requests
    this.#key = `${prefix}:drops`
  }

  async add(scopes: Iterable<string>): Promise<void> {
    const pipeline = this.#redis.pipeline()
    for (const scope of scopes) pipeline.xadd(this.#key, 'MAXLEN', '~', keptDrops, '*', 'scope', scope)
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
  }

  /** Returns the cache scopes that were dropped since the last read. */
  async read(): Promise<string[]> {
    const scopes: string[] = []
    while (this.#last !== undefined) {
      const since = this.#last
      const entries = (await this.#redis.xrange(this.#key, since, '+', 'COUNT', entriesPerRead)) as Entry[]
      // If the last entry is gone, the drop log was trimmed or lost, so drops may be missing.
      if (entries[0]?.[0] !== since) this.#last = undefined
      else {
        for (const [id, fields] of entries.slice(1)) {
          this.#last = id
          scopes.push(fields[1] ?? everything)
        }
        if (entries.length < entriesPerRead) return scopes
      }
    }
    await this.#startAtEnd()
    return [everything]
  }

  lose(): void {
    this.#last = undefined
  }

  async #startAtEnd(): Promise<void> {
    const [newest] = (await this.#redis.xrevrange(this.#key, '+', '-', 'COUNT', 1)) as Entry[]
    // An empty drop log gets an entry, so that the next read can detect a lost one.
    this.#last = newest?.[0] ?? String(await this.#redis.xadd(this.#key, '*', 'scope', everything))
  }
}
