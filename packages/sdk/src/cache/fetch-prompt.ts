import type { Outcome } from '../api-promise.ts'
import { ApiError, ConnectionError, StetError } from '../errors.ts'
import type { RequestOptions, Scope } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { Exchange } from '../transport/exchange.ts'
import { parseAnswer } from '../transport/parse-answer.ts'
import { send, untilAborted } from '../transport/request.ts'
import type { FetchedPrompt, Prompt } from '../types.ts'
import type { CacheOptions, PromptFallback } from './cache-options.ts'
import { cacheOf, cacheOptions, keyPrefix, sha256 } from './kept-prompts.ts'

type GetOptions = Scope & RequestOptions & { cache?: boolean | CacheOptions; fallback?: PromptFallback }

/** Tries the cache if enabled, then the server. Uses the fallback only in an outage. */
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
  // Other callers may share the request, so the signal aborts only this caller's wait.
  const { signal, ...shared } = o
  const exchange = api.exchange('prompts.get', { path }, shared)
  const options = cacheOptions(settings, cache)
  const request = {
    key: `${await keyPrefix(settings, exchange)}${exchange.url}|`,
    load: (etag: string | undefined) => loadPrompt(api, exchange, etag),
    options,
    now: settings.runtime.now,
    logger: settings.logger,
  }
  return untilAborted(cacheOf(settings, options).get(request), signal)
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

// The fallback must not hide any other error, such as 404.
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
    updatedBy: null,
    ...given,
    source: 'fallback',
    fetchedAt: now,
  }
}
