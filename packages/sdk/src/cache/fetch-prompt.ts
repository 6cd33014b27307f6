import type { Outcome } from '../api-promise.ts'
import { ApiError, ConnectionError, StetError } from '../errors.ts'
import type { RequestOptions, Scope } from '../options.ts'
import { hexOf, randomUuid } from '../runtime.ts'
import type { Api } from '../transport/api.ts'
import type { Exchange } from '../transport/exchange.ts'
import { requestHeaders } from '../transport/headers.ts'
import { parseAnswer } from '../transport/parse-answer.ts'
import { send, untilAborted } from '../transport/request.ts'
import type { FetchedPrompt, Prompt } from '../types.ts'
import type { CacheOptions, PromptFallback } from './cache-options.ts'
import { PromptCache } from './prompt-cache.ts'

type GetOptions = Scope & RequestOptions & { cache?: boolean | CacheOptions; fallback?: PromptFallback }

/** One prompt: from the cache if enabled, then from the server, then the fallback. */
export async function fetchPrompt(
  api: Api,
  path: string,
  { cache, fallback, ...o }: GetOptions,
  fromServer: () => Promise<Outcome<FetchedPrompt>>,
): Promise<Outcome<FetchedPrompt>> {
  try {
    return await (cache ? cachedPrompt(api, path, o, cache) : fromServer())
  } catch (error) {
    if (fallback === undefined || !StetError.isInstance(error) || !isOutage(error)) throw error
    const data = await standIn(api, path, o, typeof fallback === 'function' ? await fallback(error) : fallback)
    api.settings.logger.warn(`${path}: using the fallback (${error.message})`)
    return { data, response: Response.json(data) }
  }
}

async function cachedPrompt(api: Api, path: string, o: Scope & RequestOptions, cache: true | CacheOptions) {
  const { settings } = api
  // the request may serve others too: leaving it ends one caller's wait, not theirs
  const { signal, ...shared } = o
  const exchange = api.exchange('prompts.get', { path }, shared)
  const options = cacheOptions(api, cache)
  const request = {
    key: `${await keyPrefix(api, exchange)}${exchange.url}|`,
    load: (etag: string | undefined) => loadPrompt(api, exchange, etag),
    options,
    now: settings.runtime.now,
    logger: settings.logger,
  }
  return untilAborted(cacheOf(api, options).get(request), signal)
}

/** The cache of a client and of those made from it. */
export function cacheOf({ settings: { prompts } }: Api, { max }: CacheOptions): PromptCache {
  prompts.cache ??= new PromptCache(max)
  return prompts.cache
}

async function loadPrompt(
  api: Api,
  exchange: Exchange,
  etag: string | undefined,
): Promise<Outcome<Prompt> | undefined> {
  const headers = { ...exchange.options.headers, ...(etag && { 'If-None-Match': etag }) }
  const answer = await send(api.settings, { ...exchange, options: { ...exchange.options, headers } })
  return etag && answer.response.status === 304 ? undefined : parseAnswer<Prompt>(answer)
}

/** Prefix of all cache keys of an API key, so that its prompts are not shown to another. */
export async function keyPrefix(api: Api, exchange: Exchange): Promise<string> {
  const { prompts } = api.settings
  const headers = await requestHeaders(api.settings, exchange, 0, null)
  const authorization = headers.get('authorization') ?? ''
  // stores the promise rather than its result, so that concurrent calls share one request
  if (prompts.caller?.authorization !== authorization) {
    // without a hash of the key, only this caller may find its entries
    prompts.caller = { authorization, hash: sha256(authorization).then((hash) => hash || randomUuid()) }
  }
  return `${(await prompts.caller.hash).slice(0, 16)}|`
}

/** The options of a call over those of the client. */
export function cacheOptions({ settings }: Api, own: boolean | CacheOptions | undefined): CacheOptions {
  return { ...(settings.cache as object), ...(own as object) }
}

// an answer that says no, such as 404, is never masked
function isOutage(error: StetError): boolean {
  return error instanceof ApiError ? error.status === 429 || error.status >= 500 : error instanceof ConnectionError
}

async function standIn(
  api: Api,
  path: string,
  o: Scope,
  fallback: Exclude<PromptFallback, (...args: never[]) => unknown>,
): Promise<FetchedPrompt> {
  const { runtime, versionUuid } = api.settings
  const given = typeof fallback === 'string' ? { content: fallback } : fallback
  const now = runtime.now()
  const at = new Date(now).toISOString()
  return {
    id: 0,
    documentUuid: '',
    uuid: '',
    path,
    projectId: Number(api.projectId(o)),
    commitId: 0,
    versionUuid: o.versionUuid ?? versionUuid,
    resolvedContent: given.content,
    contentHash: await sha256(given.content),
    config: {},
    parameters: {},
    errors: [],
    createdAt: at,
    updatedAt: at,
    mergedAt: null,
    deletedAt: null,
    ...given,
    source: 'fallback',
    fetchedAt: now,
  }
}

/** Empty in a page over plain http, which cannot compute it. */
async function sha256(text: string): Promise<string> {
  if (!crypto.subtle) return ''
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
