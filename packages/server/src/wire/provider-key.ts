import type { Provider as ProviderBody, ProviderKey as ProviderKeyBody, ProviderTest } from '@stet/contract/vocabulary'
import type { PricedProviderEntry } from '../features/providers/list-providers.ts'
import type { ListedProviderKey } from '../features/providers/provider-key.ts'
import type { TestedProvider } from '../features/providers/test-provider-key.ts'
import { providerKind } from './legacy-clients.ts'

export function providerKeyBody(key: ListedProviderKey): ProviderKeyBody {
  return {
    id: key.id,
    name: key.name,
    provider: providerKind(key.provider) ?? 'custom',
    token: key.maskedToken,
    url: key.url,
    defaultModel: key.defaultModel,
    configuration: key.configuration,
    createdAt: key.createdAt.toISOString(),
    updatedAt: key.updatedAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  }
}

/** Without address, token and configuration: editors of prompts see providers too. */
export function providerBody({ name, kind, defaultModel, isDemo, models }: PricedProviderEntry): ProviderBody {
  return {
    name,
    provider: providerKind(kind) ?? 'custom',
    defaultModel,
    isDemo,
    models,
  }
}

export function providerTestBody({ kind, model, durationMs, firstTokenMs, text, error }: TestedProvider): ProviderTest {
  return {
    ok: error === null,
    provider: providerKind(kind) ?? 'custom',
    model,
    durationMs,
    firstTokenMs,
    text,
    error,
  }
}
