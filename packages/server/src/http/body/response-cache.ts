/** Caches responses of `documents.get`, so that a repeated read skips the router and the use case. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { API_PREFIX, contract } from '@stet/contract'
import { LRUCache } from 'lru-cache'
import { hashApiKey, keyScope } from '../../features/access/api-key.ts'
import type { Caller } from '../../shared/caller.ts'
import { noTracer } from '../../shared/tracer.ts'
import { bearerToken } from '../auth/admit.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import type { HttpDeps } from '../http-deps.ts'
import { startRequestSpan } from '../operations/request-span.ts'
import { spendPoint } from '../rate-limit/rate-limit.ts'
import { failureFields } from './error-response.ts'

export interface ReadyResponse {
  etag: string
  /** A string, because Node sends it in one write together with the headers. */
  body: string
  bytes: number
}

interface Kept extends ReadyResponse {
  caller: Caller
  /** The cache scopes that the response depends on. */
  scopes: readonly string[]
  /** The drop count before the response was created. */
  drops: number
}

// Excludes addresses with a query, because the same query has unlimited spellings.
const address = new RegExp(`^${API_PREFIX}/projects/\\d+/versions/[^/?]+/documents/[^?]+$`)
const mostBytes = 33_554_432
const entryBytes = 1_024
/** A cached response skips authentication, which records the key's last use. A short time keeps that record recent. */
const keptMs = 10_000

export class ResponseCache {
  readonly #deps: HttpDeps
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: mostBytes,
    sizeCalculation: ({ body }) => entryBytes + body.length,
    ttl: keptMs,
    // Removes expired responses without another request, because they may contain deleted text.
    ttlAutopurge: true,
  })

  constructor(deps: HttpDeps) {
    this.#deps = deps
  }

  /** Sends a cached response. Calls `next` on a cache miss or a refusal, because Express sends all error responses. */
  async respond(req: IncomingMessage, res: ServerResponse, next: () => void): Promise<void> {
    try {
      const kept = await this.#find(req, res)
      if (!kept) return next()
      contextOf(res).caller = kept.caller
      if (this.#deps.tracer !== noTracer) startRequestSpan(this.#deps.tracer, res)
      const point = await spendPoint(this.#deps, res).catch(() => undefined)
      if (!point?.allowed) return next()
      this.#deps.metrics.cacheRead(true)
      contextOf(res).route = contract.documents.get.path
      writeReady(res, kept, req.headers['if-none-match'])
    } catch (error) {
      this.#deps.logger.error('http.unforeseen-failure', {
        requestId: contextOf(res).requestId,
        ...failureFields(error),
      })
      res.destroy()
    }
  }

  /** @param scopes the cache scopes that the response depends on. The key's own cache scope is added. */
  keep(res: ServerResponse, ready: ReadyResponse, scopes: readonly string[]): void {
    const { cachePlace } = contextOf(res)
    if (!cachePlace) return
    const { id, drops } = cachePlace
    const entry = { ...ready, caller: callerOf(res), scopes: [cachePlace.scope, ...scopes], drops }
    if (this.#isCurrent(entry)) this.#kept.set(id, entry)
  }

  async #find(req: IncomingMessage, res: ServerResponse): Promise<Kept | undefined> {
    const { drain, place, liveCache } = this.#deps
    const { url = '', method, headers } = req
    if (method !== 'GET' || !address.test(url) || drain.isRefusing || !place.isConfirmed()) return undefined
    const token = bearerToken(headers.authorization)
    if (token === undefined) return undefined
    if (liveCache.sync) await liveCache.sync()
    const hash = hashApiKey(token)
    const id = `${hash} ${url}`
    const kept = this.#kept.get(id)
    if (kept && this.#isCurrent(kept)) return kept
    this.#deps.metrics.cacheRead(false)
    // Reads the drop count before authentication. A later revocation drops the key's cache scope, which invalidates
    // the response.
    contextOf(res).cachePlace = { id, scope: keyScope(hash), drops: liveCache.drops() }
    return undefined
  }

  #isCurrent({ caller, scopes, drops }: Kept): boolean {
    const isExpired = caller.expiresAt !== null && caller.expiresAt <= this.#deps.clock.now()
    return !isExpired && this.#deps.liveCache.areCurrent(scopes, drops)
  }
}

export function writeReady(res: ServerResponse, ready: ReadyResponse, ifNoneMatch: string | undefined): void {
  res.setHeader('ETag', ready.etag)
  res.setHeader('Cache-Control', 'private, no-cache')
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, ready.etag)) {
    res.writeHead(304).end()
    return
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', ready.bytes)
  res.end(ready.body)
}

/** Compares weakly, as RFC 9110, 13.1.2 requires: `W/"x"` matches `"x"`. */
function matchesEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const tag = part.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
