/** The headers of a call, by precedence: the protocol's, the prompt's, the provider key's. */
import type { ModelRequest, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'

const reservedHeaders = new Set(
  (
    'authorization host content-length content-type accept accept-encoding connection keep-alive proxy-authenticate ' +
    'proxy-authorization te trailer transfer-encoding upgrade expect api-key cookie'
  ).split(' '),
)

/**
 * @param own the protocol's headers, such as authentication and version. Nothing overrides them.
 * @param defaults headers that the provider key and the prompt may override.
 * @throws ProviderError `misconfigured` for a reserved or malformed header.
 */
export function requestHeaders(
  provider: ProviderSettings,
  request: Pick<ModelRequest, 'settings' | 'stream'>,
  own: Record<string, string> = {},
  defaults: Record<string, string> = {},
): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'stet' }
  for (const source of [defaults, provider.configuration['headers'], request.settings['headers']]) {
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
