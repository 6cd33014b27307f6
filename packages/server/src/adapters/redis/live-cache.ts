/**
 * The cache of one server, kept current by a log of drops that all servers share. A server reads the log before it
 * uses the cache for a request, so the request sees every write that was answered before.
 */
import type { LiveCache } from '../../features/deps.ts'
import { createLiveCache } from '../in-process/live-cache.ts'
import type { RedisConnections } from './connections.ts'

/** Approximate length of the log. A server that was away for longer clears its whole cache. */
const keptDrops = 10_000
const entriesPerRead = 1_000
/** While Redis is away, entries of the cache are at most this old. */
const withoutRedisMs = 5_000
/** Drops to send once Redis is back. With more, the other servers clear their whole cache. */
const mostUnsent = 10_000
const everything = '*'

type Entry = [id: string, fields: string[]]

export interface SharedLiveCache extends LiveCache {
  sync(): Promise<void>
}

export function createSharedLiveCache({
  requests,
  prefix,
}: Pick<RedisConnections, 'requests' | 'prefix'>): SharedLiveCache {
  const local = createLiveCache()
  const log = `${prefix}:drops`
  /** The last entry that was applied; undefined before the first read and after a failure. */
  let applied: string | undefined
  let clearedAt = Number.NEGATIVE_INFINITY
  let unsent = new Set<string>()
  let next: Promise<void> | undefined

  const clear = () => {
    local.clear()
    clearedAt = performance.now()
  }
  const send = (scopes: Iterable<string>) => {
    const pipeline = requests.pipeline()
    for (const scope of scopes) pipeline.xadd(log, 'MAXLEN', '~', keptDrops, '*', 'scope', scope)
    return pipeline.exec().then((results) => {
      for (const [error] of results ?? []) if (error) throw error
    })
  }
  const sendUnsent = async () => {
    if (unsent.size === 0) return
    const scopes = unsent
    unsent = new Set()
    await send(scopes).catch((error: unknown) => {
      keepUnsent(scopes)
      throw error
    })
  }
  const keepUnsent = (scopes: Iterable<string>) => {
    for (const scope of scopes) unsent.add(scope)
    if (unsent.size > mostUnsent) unsent = new Set([everything])
  }

  /** Starts to follow the log at its end. Everything that was cached before may be outdated. */
  const begin = async () => {
    const [last] = (await requests.xrevrange(log, '+', '-', 'COUNT', 1)) as Entry[]
    clear()
    if (last) applied = last[0]
    // The next read needs an entry to find, as proof that the log was not lost in between.
    else applied = String(await requests.xadd(log, '*', 'scope', everything))
  }
  const read = async () => {
    await sendUnsent()
    if (applied === undefined) return begin()
    for (;;) {
      const since: string = applied
      const entries = (await requests.xrange(log, since, '+', 'COUNT', entriesPerRead)) as Entry[]
      // A log without the last applied entry was trimmed or lost: drops may be missing.
      if (entries[0]?.[0] !== since) return begin()
      for (const [id, fields] of entries.slice(1)) {
        const scope = fields[1]
        if (scope === everything) clear()
        else if (scope !== undefined) local.dropHere(scope)
        applied = id
      }
      if (entries.length < entriesPerRead) return
    }
  }
  const readOrAge = () =>
    read().catch((error: unknown) => {
      applied = undefined
      // Fails all later commands immediately until Redis answers again, so that a request waits only once.
      if (error instanceof Error && error.message === 'Command timed out') requests.disconnect(true)
      if (performance.now() - clearedAt >= withoutRedisMs) clear()
    })

  return {
    ...local,
    async drop(scope) {
      local.dropHere(scope)
      await send([scope]).catch(() => keepUnsent([scope]))
    },
    // Requests of one tick share a read, because none of them began after it was sent.
    sync() {
      next ??= Promise.resolve().then(() => {
        next = undefined
        return readOrAge()
      })
      return next
    },
  }
}
