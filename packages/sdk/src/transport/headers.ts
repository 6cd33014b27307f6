import { version } from '../../package.json'
import { ConfigurationError } from '../errors.ts'
import type { ApiKey } from '../options.ts'
import type { Exchange } from './exchange.ts'
import type { Settings } from './settings.ts'

/** Builds the headers of one attempt. Each attempt reads the API key again, because the key may have been rotated. */
export async function requestHeaders(
  settings: Settings,
  { isStream, outside, body, options }: Exchange,
  attempt: number,
  idempotencyKey: string | null,
): Promise<Headers> {
  const headers = new Headers()
  const own = {
    Accept: isStream ? 'text/event-stream' : 'application/json',
    'X-Stet-SDK-Version': version,
    Authorization: outside ? null : await authorization(settings),
    'Content-Type': body === undefined ? null : 'application/json',
    'User-Agent': settings.isBrowser ? null : `stet-sdk/${version}`,
    'Idempotency-Key': idempotencyKey,
    'X-Retry-Count': attempt ? `${attempt}` : null,
  }
  for (const source of [own, settings.defaultHeaders, options.headers]) {
    for (const [name, value] of Object.entries(source ?? {})) {
      try {
        if (value === null) headers.delete(name)
        else headers.set(name, value)
      } catch {
        // The runtime's error message would contain the value, which may be a secret.
        throw new ConfigurationError(`headers: '${name}' or its value is not valid`)
      }
    }
  }
  return headers
}

/**
 * A property of a `fetch` that can respond without a server. Its value is a function that returns true if requests
 * currently need no server and no API key.
 */
const OFFLINE = Symbol.for('stet.offline')

async function authorization({ apiKey, fetch }: Settings): Promise<string | null> {
  const { [OFFLINE]: isOffline } = fetch as { [OFFLINE]?: () => boolean }
  return apiKey === null || (!apiKey && isOffline?.()) ? null : `Bearer ${await currentKey(apiKey)}`
}

async function currentKey(source: ApiKey | undefined): Promise<string> {
  let key: string | undefined
  try {
    key = (typeof source === 'function' ? await source() : source)?.trim()
  } catch (cause) {
    throw new ConfigurationError('The apiKey function failed', { cause })
  }
  if (!key) throw new ConfigurationError('No API key: pass apiKey to new Stet(…) or set STET_API_KEY')
  // The runtime's own header error would contain the API key.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ConfigurationError('apiKey (STET_API_KEY) contains characters that are not allowed in a key')
  return key
}
