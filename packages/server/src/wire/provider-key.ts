import type { ProviderKey as ProviderKeyBody } from '@stet/contract'
import type { ListedProviderKey } from '../features/providers/provider-key.ts'
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
