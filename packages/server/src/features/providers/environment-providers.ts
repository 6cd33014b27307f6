/** Providers that are not stored: `openai` and `anthropic` from environment variables, and the built-in `demo`. */
import type { ProviderSettings } from './model-driver.ts'
import type { EnvironmentProviders } from './ports.ts'

export interface EnvironmentProviderSettings {
  openaiApiKey: string | undefined
  openaiBaseUrl: string | undefined
  anthropicApiKey: string | undefined
  anthropicBaseUrl: string | undefined
  demoProvider: boolean
  defaultProvider: string | undefined
  defaultModel: string | undefined
  since: Date
}

export function environmentProviders(settings: EnvironmentProviderSettings): EnvironmentProviders {
  const entries: ProviderSettings[] = []
  for (const [kind, token, url] of [
    ['openai', settings.openaiApiKey, settings.openaiBaseUrl],
    ['anthropic', settings.anthropicApiKey, settings.anthropicBaseUrl],
  ] as const) {
    if (token !== undefined) entries.push(environmentEntry(kind, token, url))
  }
  if (settings.demoProvider) entries.push(demo)
  return {
    list: () => entries,
    defaultProvider: settings.defaultProvider,
    defaultModel: settings.defaultModel,
    since: settings.since,
  }
}

function environmentEntry(kind: string, token: string, url: string | undefined): ProviderSettings {
  return {
    name: kind,
    kind,
    isDemo: false,
    token,
    url: url ?? null,
    defaultModel: null,
    configuration: {},
    trustedAddress: url !== undefined,
  }
}

const demo: ProviderSettings = {
  name: 'demo',
  kind: 'custom',
  isDemo: true,
  token: '',
  url: null,
  defaultModel: 'demo',
  configuration: {},
  trustedAddress: false,
}
