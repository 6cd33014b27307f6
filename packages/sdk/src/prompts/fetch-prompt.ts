import type { Outcome } from '../api-promise.ts'
import { isOutage, type Outage, Outages, pauses, reserveProbe } from '../cache/outages.ts'
import type { Load } from '../cache/prompt-cache.ts'
import type { CacheOptions, PromptFallback } from '../cache-options.ts'
import { ApiError, StetError, TimeoutError } from '../errors.ts'
import type { RequestOptions, Scope } from '../options.ts'
import { onAbort } from '../runtime.ts'
import type { Api } from '../transport/api.ts'
import type { Exchange } from '../transport/exchange.ts'
import { send, untilAborted } from '../transport/request.ts'
import { parseAnswer } from '../transport/response-error.ts'
import type { Settings } from '../transport/settings.ts'
import { startTimer } from '../transport/timer.ts'
import type { FetchedPrompt, Prompt } from '../types.ts'
import { cacheOf, cacheOptions, keyPrefix, sha256 } from './kept-prompts.ts'

const FALLBACK_TIMEOUT_MS = 2000

type CallOptions = Scope & RequestOptions
type GetOptions = CallOptions & {
  cache: boolean | CacheOptions
  fallback?: PromptFallback
  fallbackTimeout?: number
}

/** Tries the cache if enabled, then the server. Uses the fallback only in an outage. */
export function fetchPrompt(
  api: Api,
  path: string,
  { cache, fallback, fallbackTimeout = FALLBACK_TIMEOUT_MS, ...o }: GetOptions,
): Promise<Outcome<FetchedPrompt>> {
  const source = { api, path, cache }
  if (fallback === undefined) return ask(source, exchangeOf(source, o), o.signal)
  return withFallback(source, o, fallback, fallbackTimeout)
}

/** Other callers may share a request for the cache, so the signal of a call aborts only its wait. */
function exchangeOf({ api, path, cache }: Source, { signal, ...shared }: CallOptions): Exchange {
  return api.exchange('prompts.get', { path }, cache || !signal ? shared : { ...shared, signal })
}

interface Source {
  api: Api
  path: string
  cache: boolean | CacheOptions
}

async function withFallback(source: Source, o: CallOptions, fallback: PromptFallback, ms: number) {
  const { api, path } = source
  const { settings } = api
  const { baseUrl, logger, prompts, runtime } = settings
  const exchange = exchangeOf(source, o)
  const { url } = exchange
  prompts.outages ??= new Outages()
  const { outages } = prompts
  const limited = ms > 0 ? { ...exchange, deadline: runtime.now() + ms } : exchange
  /** A kept prompt needs no server, so the outage is noticed only where the prompt is loaded. */
  const loadIfUp: Load = async (etag) => {
    const outage = outages.find(baseUrl, url, runtime.now())
    if (outage) throw outage.error
    return loadInTime(settings, limited, etag)
  }
  try {
    const outcome = await within(ms, ask(source, limited, o.signal, loadIfUp))
    if (outcome.data.source === 'network') outages.end(baseUrl, url)
    return outcome
  } catch (error) {
    if (!StetError.isInstance(error)) throw error
    if (!isOutage(error)) {
      if (error instanceof ApiError) outages.end(baseUrl, url)
      throw error
    }
    const known = outages.find(baseUrl, url, runtime.now())
    if (known?.error === error) probe(source, o, known, ms > 0 ? ms : FALLBACK_TIMEOUT_MS)
    else outages.begin(baseUrl, url, error, runtime.now())
    const data = await standIn(api, path, o, typeof fallback === 'function' ? await fallback(error) : fallback)
    // During an outage, a warning for every call would fill the log.
    logger[known?.error === error ? 'info' : 'warn'](`${path}: using the fallback (${error.message})`)
    return { data, response: Response.json(data) }
  }
}

/** If due, asks in the background, for at most `ms`, whether the server answers again. */
function probe({ api, path, cache }: Source, o: CallOptions, outage: Outage, ms: number): void {
  const { settings } = api
  const { baseUrl, runtime, prompts } = settings
  if (!reserveProbe(outage, runtime.now(), ms)) return
  const controller = new AbortController()
  const options = { ...o, signal: controller.signal, maxRetries: 0, timeout: 0 }
  const exchange = api.exchange('prompts.get', { path }, options)
  const timer = setTimeout(() => controller.abort(), ms)
  const asked = loadPrompt(settings, exchange, undefined)
    .then(
      () => prompts.outages?.end(baseUrl, exchange.url),
      (error: unknown) => {
        if (error instanceof ApiError && !isOutage(error)) prompts.outages?.end(baseUrl, exchange.url)
        else Object.assign(outage, pauses(runtime.now()))
      },
    )
    .finally(() => clearTimeout(timer))
  cacheOptions(settings, cache).waitUntil?.(asked)
}

async function ask(
  { api: { settings }, cache }: Source,
  exchange: Exchange,
  signal: AbortSignal | undefined,
  load: Load = (etag) => loadPrompt(settings, exchange, etag),
): Promise<Outcome<FetchedPrompt>> {
  const { runtime, logger } = settings
  if (!cache) {
    const { data, response } = (await untilAborted(load(undefined), signal)) as Outcome<Prompt>
    return { data: { ...data, source: 'network', fetchedAt: runtime.now() }, response }
  }
  const options = cacheOptions(settings, cache)
  const key = `${await keyPrefix(settings, exchange)}${exchange.url}|`
  // Callers with a deadline do not share requests with callers that would wait longer.
  const flight = exchange.deadline === undefined ? key : `${key}!`
  return untilAborted(cacheOf(settings, options).get({ key, flight, load, options, now: runtime.now, logger }), signal)
}

async function loadPrompt(
  settings: Settings,
  exchange: Exchange,
  etag: string | undefined,
): Promise<Outcome<Prompt> | undefined> {
  const headers = { ...exchange.options.headers, ...(etag && { 'If-None-Match': etag }) }
  const answer = await send(settings, { ...exchange, options: { ...exchange.options, headers } })
  return etag && answer.response.status === 304 ? undefined : parseAnswer<Prompt>(settings, answer)
}

/** Loads a prompt, and ends the request when the time is over. */
async function loadInTime(settings: Settings, { options, ...exchange }: Exchange, etag: string | undefined) {
  const { deadline } = exchange
  const leftMs = deadline === undefined ? 0 : Math.max(1, deadline - settings.runtime.now())
  const controller = new AbortController()
  const unfollow = onAbort(options.signal, () => controller.abort())
  const limited = { ...exchange, options: { ...options, signal: controller.signal } }
  try {
    return await within(leftMs, loadPrompt(settings, limited, etag))
  } finally {
    controller.abort()
    unfollow()
  }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopTimer = startTimer(ms, () => reject(new TimeoutError(`prompts.get: no response within ${ms} ms`)))
    work.then(resolve, reject).finally(stopTimer)
  })
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
    issues: [],
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
