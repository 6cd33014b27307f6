import type { ApiKey as ApiKeyBody } from '@stet/contract'
import type { ApiKey } from '../../features/access/api-key.ts'
import { optionalTimestamp, timestamp } from './timestamp.ts'

export function apiKeyBody(apiKey: ApiKey): ApiKeyBody {
  return {
    id: apiKey.id,
    name: apiKey.name,
    prefix: apiKey.prefix,
    scopes: [...apiKey.scopes],
    projectId: apiKey.projectId,
    plan: apiKey.plan,
    limit: apiKey.limit,
    author: { id: apiKey.author.id, name: apiKey.author.name, email: apiKey.author.email },
    expiresAt: optionalTimestamp(apiKey.expiresAt),
    lastUsedAt: optionalTimestamp(apiKey.lastUsedAt),
    revokedAt: optionalTimestamp(apiKey.revokedAt),
    createdAt: timestamp(apiKey.createdAt),
  }
}
