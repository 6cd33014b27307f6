/** Lists the providers that are not stored: `openai` and `anthropic` (environment variables) and the demo. */
import type { ProviderSettings } from './model-driver.ts'
import type { EnvironmentProviders } from './ports.ts'

interface EnvironmentSettings extends Omit<EnvironmentProviders, 'list' | 'usedAt'> {
  openaiApiKey: string | undefined
  openaiBaseUrl: string | undefined
  anthropicApiKey: string | undefined
  anthropicBaseUrl: string | undefined
  demoProvider: boolean
}

export function environmentProviders(settings: EnvironmentSettings): EnvironmentProviders {
  const { openaiApiKey, openaiBaseUrl, anthropicApiKey, anthropicBaseUrl } = settings
  const { defaultProvider, defaultModel, since } = settings
  const list: ProviderSettings[] = []
  if (openaiApiKey !== undefined) list.push(environmentProvider('openai', openaiApiKey, openaiBaseUrl))
  if (anthropicApiKey !== undefined) list.push(environmentProvider('anthropic', anthropicApiKey, anthropicBaseUrl))
  if (settings.demoProvider) {
    list.push({ ...environmentProvider('demo', '', undefined), kind: 'custom', isDemo: true, defaultModel: 'demo' })
  }
  return { list, defaultProvider, defaultModel, since, usedAt: new Map() }
}

function environmentProvider(kind: string, token: string, url: string | undefined): ProviderSettings {
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
