/** The headers of a call: those of the entry, then those of the prompt, and what the protocol itself needs. */
import type { ModelRequest } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'

const reservedHeaders = new Set(
  (
    'authorization host content-length content-type accept accept-encoding connection keep-alive proxy-authenticate ' +
    'proxy-authorization te trailer transfer-encoding upgrade expect api-key cookie'
  ).split(' '),
)

/**
 * @param own the protocol's: authentication, version. Nobody else can set these.
 * @param defaults weaker than the entry's and the prompt's.
 * @throws ProviderError `misconfigured` for a header that may not be set or is not well formed.
 */
export function requestHeaders(
  request: ModelRequest,
  own: Record<string, string> = {},
  defaults: Record<string, string> = {},
): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'stet' }
  for (const source of [defaults, request.provider.configuration['headers'], request.settings['headers']]) {
    if (typeof source !== 'object' || source === null) continue
    for (const [name, value] of Object.entries(source)) addHeader(headers, name.toLowerCase(), value)
  }
  return {
    ...headers,
    accept: request.stream ? 'text/event-stream' : 'application/json',
    'content-type': 'application/json',
    ...own,
  }
}

function addHeader(headers: Record<string, string>, name: string, value: unknown): void {
  const isWellFormed = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(String(value))
  if (!isWellFormed || reservedHeaders.has(name)) {
    throw new ProviderError('misconfigured', `The header '${name.slice(0, 100)}' cannot be set`)
  }
  headers[name] = String(value)
}
