import type { LogSource, StetOptions } from '../index.ts'
import { environment, variable } from '../transport/settings.ts'
import { delayFirstRetry } from './first-retry.ts'

/** The options of `Stet`, plus the published clients' options for the server. */
export interface LatitudeOptions extends Omit<StetOptions, 'apiKey'> {
  __internal?: {
    /** The server address. Overrides `baseUrl`. */
    gateway?: { host: string; port?: number; ssl: boolean }
    /** Ignored. */
    source?: LogSource
    /** Milliseconds before the first retry, if the error response sets no delay. Doubles with each retry. */
    retryMs?: number
  }
}

const NO = /^(false|0|no|off|)$/i

/**
 * Converts the options to those of `Stet`. The published clients' environment variables apply only if stet's are unset.
 */
export function stetOptions(apiKey: string | undefined, { __internal = {}, ...own }: LatitudeOptions): StetOptions {
  const { gateway, retryMs } = __internal
  const key = apiKey ?? environment('STET_API_KEY') ?? environment('LATITUDE_API_KEY')
  const baseUrl = gateway
    ? addressOf(gateway)
    : (own.baseUrl ?? environment('STET_BASE_URL') ?? gatewayFromEnvironment())
  return {
    ...own,
    ...(key !== undefined && { apiKey: key }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(retryMs !== undefined && { fetch: delayFirstRetry(own.fetch, retryMs) }),
  }
}

function addressOf({ host, port, ssl }: { host: string; port?: number | string | undefined; ssl: boolean }): string {
  return `${ssl ? 'https' : 'http'}://${host}${port ? `:${port}` : ''}`
}

function gatewayFromEnvironment(): string | undefined {
  const host = environment('GATEWAY_HOSTNAME')
  if (!host) return undefined
  const ssl = !NO.test((variable('GATEWAY_SSL') ?? 'true').trim())
  return addressOf({ host, port: environment('GATEWAY_PORT'), ssl })
}
