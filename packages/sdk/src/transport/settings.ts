import type { CacheSlot } from '../cache/prompt-cache.ts'
import { ConfigurationError } from '../errors.ts'
import { createLogger, LEVELS } from '../logger.ts'
import type { Logger, LogLevel, StetOptions } from '../options.ts'
import { type Runtime, systemRuntime } from '../runtime.ts'
import { parseBaseUrl } from './url.ts'

const DEFAULT_ADDRESS = 'http://127.0.0.1:8787'
const DEFAULT_MAX_RETRIES = 2

export interface Settings extends Omit<StetOptions, 'apiKey' | 'projectId'> {
  apiKey: StetOptions['apiKey'] | undefined
  projectId: StetOptions['projectId'] | undefined
  baseUrl: string
  rootUrl: string
  versionUuid: string
  maxRetries: number
  fetch: typeof globalThis.fetch
  logger: Logger
  isBrowser: boolean
  runtime: Runtime
  /** Shared by all clients derived from the same client. */
  prompts: CacheSlot
}

const CACHE = Symbol('cache')

interface Inherited extends StetOptions {
  [CACHE]?: CacheSlot
}

export function derived(settings: Settings, options: StetOptions, changed: Partial<StetOptions>): Inherited {
  return { ...options, ...changed, [CACHE]: settings.prompts }
}

/** @throws ConfigurationError for invalid values, and for an API key in a page without `dangerouslyAllowBrowser` */
export function resolveSettings(options: Inherited, runtime: Runtime = systemRuntime): Settings {
  const { apiKey = environment('STET_API_KEY') } = options
  const isBrowser = 'window' in globalThis && 'document' in globalThis
  if (isBrowser && apiKey && !options.dangerouslyAllowBrowser) {
    throw new ConfigurationError(
      'Every visitor of a page can read its API key: call your own server, or set dangerouslyAllowBrowser',
    )
  }
  const maxRetries = options.maxRetries ?? DEFAULT_MAX_RETRIES
  if (!(maxRetries >= 0)) throw new ConfigurationError('maxRetries must be 0 or more')
  const level = (options.logLevel ?? environment('STET_LOG') ?? 'warn') as LogLevel
  if (!LEVELS.includes(level)) throw new ConfigurationError(`logLevel (STET_LOG) must be one of ${LEVELS.join(', ')}`)
  return {
    ...options,
    apiKey,
    projectId: options.projectId ?? environment('STET_PROJECT_ID'),
    ...parseBaseUrl(options.baseUrl ?? environment('STET_BASE_URL') ?? DEFAULT_ADDRESS),
    versionUuid: options.versionUuid ?? 'live',
    maxRetries,
    // Look up `fetch` on each call, so that a replacement of `globalThis.fetch` takes effect later too.
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
    logger: createLogger(level, options.logger ?? console),
    isBrowser,
    runtime,
    prompts: options[CACHE] ?? {},
  }
}

/** An empty value counts as unset. */
export function environment(name: string): string | undefined {
  return variable(name)?.trim() || undefined
}

export function variable(name: string): string | undefined {
  const host = globalThis as unknown as {
    process?: { env?: Record<string, string | undefined> }
    Deno?: { env: { get(name: string): string | undefined } }
  }
  try {
    return host.process?.env?.[name] ?? host.Deno?.env.get(name)
  } catch {
    // Deno throws without permission to read the environment.
    return undefined
  }
}
