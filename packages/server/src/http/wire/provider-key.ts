import type { ProviderKey as ProviderKeyBody } from '@stet/contract'
import type { ListedProviderKey } from '../../features/providers/provider-key.ts'
import { providerKind } from './provider-kind.ts'
import { optionalTimestamp, timestamp } from './timestamp.ts'

export function providerKeyBody(key: ListedProviderKey): ProviderKeyBody {
  return {
    id: key.id,
    name: key.name,
    provider: providerKind(key.provider) ?? 'custom',
    token: key.maskedToken,
    url: key.url,
    defaultModel: key.defaultModel,
    configuration: key.configuration,
    createdAt: timestamp(key.createdAt),
    updatedAt: timestamp(key.updatedAt),
    lastUsedAt: optionalTimestamp(key.lastUsedAt),
  }
}
