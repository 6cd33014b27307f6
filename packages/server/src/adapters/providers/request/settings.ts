/** A prompt's settings as keys of a request body. Unknown settings pass unchanged; stet's own are never sent. */
import type { ProviderSettings } from '../../../features/providers/model-driver.ts'

export interface SettingRules {
  /** Settings with the protocol's own names for them. */
  names: Readonly<Record<string, string>>
  /** Settings that the service would reject, or that belong elsewhere in the request. */
  dropped: ReadonlySet<string>
}

const stetKeys = keys(
  'provider model messages stream stream_options schema tools agents type name description parameters maxSteps ' +
    'maxRetries headers azure providerOptions maxTokens maxOutputTokens toolChoice tool_choice parallelToolCalls ' +
    'parallel_tool_calls',
)

export function keys(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

export function settingsBody(
  { kind }: Pick<ProviderSettings, 'kind'>,
  settings: Record<string, unknown>,
  { names, dropped }: SettingRules,
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const [key, value] of Object.entries({ ...settings, ...ownOptions(settings['providerOptions'], kind) })) {
    if (value === undefined || value === null || stetKeys.has(key) || dropped.has(key)) continue
    body[Object.hasOwn(names, key) ? (names[key] ?? key) : key] = value
  }
  return body
}

/** The limit of output tokens. */
export function tokenLimit(settings: Record<string, unknown>): number | undefined {
  const limit = settings['maxOutputTokens'] ?? settings['maxTokens']
  return typeof limit === 'number' ? limit : undefined
}

/** `providerOptions` holds one object per provider kind. Those of other kinds are not sent. */
function ownOptions(options: unknown, kind: string): Record<string, unknown> {
  if (typeof options !== 'object' || options === null) return {}
  const own: unknown = Object.getOwnPropertyDescriptor(options, kind)?.value
  return typeof own === 'object' && own !== null && !Array.isArray(own) ? { ...own } : {}
}
