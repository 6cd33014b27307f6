/** Converts settings to body keys and headers. */
import type { ModelRequest, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { asNumber, asObject, type Json } from '../json.ts'

export interface SettingRules {
  names: Readonly<Record<string, string>>
  dropped: ReadonlySet<string>
}

// Keys for stet itself, and keys that other functions set.
const stetKeys = keys(
  'provider model messages stream stream_options schema validate tools agents type name description parameters maxSteps ' +
    'maxRetries headers azure providerOptions maxTokens maxOutputTokens toolChoice tool_choice parallelToolCalls ' +
    'parallel_tool_calls',
)

export function keys(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

/** Returns the type `object`, because unknown settings are sent unchanged. */
export function settingsBody({ kind }: ProviderSettings, settings: Json, { names, dropped }: SettingRules): object {
  const body: Json = {}
  const { providerOptions: options } = settings
  // `providerOptions` has one object per provider kind. Only the object of this kind is sent.
  const own = options ? asObject(Object.getOwnPropertyDescriptor(options, kind)?.value) : {}
  for (const [key, value] of Object.entries({ ...settings, ...own })) {
    if (value === undefined || value === null || stetKeys.has(key) || dropped.has(key)) continue
    body[Object.hasOwn(names, key) ? (names[key] ?? key) : key] = value
  }
  return body
}

export function tokenLimit(settings: Json): number | undefined {
  return asNumber(settings['maxOutputTokens'] ?? settings['maxTokens'])
}

const reservedHeaders = keys(
  'authorization host content-length content-type accept accept-encoding connection keep-alive proxy-authenticate ' +
    'proxy-authorization te trailer transfer-encoding upgrade expect api-key cookie',
)

/**
 * The protocol's headers override the prompt's, which override the provider key's.
 * @param own the protocol's fixed headers, such as authentication.
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
    for (const [name, value] of Object.entries(asObject(source))) addHeader(headers, name.toLowerCase(), value)
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
