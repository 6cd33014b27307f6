import { ConfigurationError } from './errors.ts'
import { createLogger, LEVELS } from './logger.ts'
import type { Logger, LogLevel, StetOptions } from './options.ts'
import { onAbort } from './transport/on-abort.ts'
import { parseBaseUrl } from './transport/url.ts'

const DEFAULT_ADDRESS = 'http://127.0.0.1:8787'
const DEFAULT_MAX_RETRIES = 2

/** Time and chance; tests bring their own. */
export interface Runtime {
  /** Rejects with the signal's reason when it is aborted first. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  random: () => number
  /** Epoch milliseconds. */
  now: () => number
}

/** The options of a client, with environment and defaults applied. */
export interface Settings extends StetOptions {
  baseUrl: string
  rootUrl: string
  versionUuid: string
  maxRetries: number
  fetch: typeof globalThis.fetch
  logger: Logger
  isBrowser: boolean
  runtime: Runtime
}

/** Applies environment and defaults; throws ConfigurationError for values that can never work. */
export function resolveSettings(options: StetOptions, runtime: Runtime = systemRuntime): Settings {
  const apiKey = options.apiKey ?? environment('STET_API_KEY')
  const isBrowser = 'window' in globalThis && 'document' in globalThis
  if (isBrowser && apiKey !== undefined && !options.dangerouslyAllowBrowser) {
    throw new ConfigurationError(
      'An API key in a page is readable by its visitors: call your own server, or set dangerouslyAllowBrowser',
    )
  }
  const maxRetries = options.maxRetries ?? DEFAULT_MAX_RETRIES
  if (!(maxRetries >= 0)) throw new ConfigurationError('maxRetries must be 0 or more')
  const projectId = options.projectId ?? environment('STET_PROJECT_ID')
  return {
    ...options,
    ...(apiKey !== undefined && { apiKey }),
    ...parseBaseUrl(options.baseUrl ?? environment('STET_BASE_URL') ?? DEFAULT_ADDRESS),
    ...(projectId !== undefined && { projectId }),
    versionUuid: options.versionUuid ?? 'live',
    maxRetries,
    // called late, so that a fetch that is replaced after construction is used
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
    logger: createLogger(options.logLevel ?? levelFromEnvironment(), options.logger ?? console),
    isBrowser,
    runtime,
  }
}

function levelFromEnvironment(): LogLevel {
  const text = environment('STET_LOG')
  const level = LEVELS.find((known) => known === (text ?? 'warn'))
  if (!level) throw new ConfigurationError(`logLevel (STET_LOG) must be one of ${LEVELS.join(', ')}`)
  return level
}

/** A variable of the environment; empty counts as absent. */
export function environment(name: string): string | undefined {
  return variable(name)?.trim() || undefined
}

/** A variable of the environment as it is set. */
export function variable(name: string): string | undefined {
  const host = globalThis as unknown as {
    process?: { env?: Record<string, string | undefined> }
    Deno?: { env: { get(name: string): string | undefined } }
  }
  try {
    return host.process?.env?.[name] ?? host.Deno?.env.get(name)
  } catch {
    // Deno without the permission to read the environment
    return undefined
  }
}

const systemRuntime: Runtime = {
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        unfollow()
        resolve()
      }, ms)
      const unfollow = onAbort(signal, () => {
        clearTimeout(timer)
        reject(signal?.reason)
      })
    })
  },
  random: Math.random,
  now: Date.now,
}
