import type { ApiKey as ApiKeyBody, Person } from '@stet/contract/vocabulary'
import type { ApiKey } from '../features/access/api-key.ts'
import type { Author } from '../shared/caller.ts'

export function apiKeyBody(apiKey: ApiKey): ApiKeyBody {
  return {
    id: apiKey.id,
    name: apiKey.name,
    prefix: apiKey.prefix,
    scopes: [...apiKey.scopes],
    projectId: apiKey.projectId,
    plan: apiKey.plan,
    limit: apiKey.limit,
    author: personBody(apiKey.author),
    expiresAt: apiKey.expiresAt?.toISOString() ?? null,
    lastUsedAt: apiKey.lastUsedAt?.toISOString() ?? null,
    revokedAt: apiKey.revokedAt?.toISOString() ?? null,
    createdAt: apiKey.createdAt.toISOString(),
  }
}

export function personBody({ id, name, email }: Author): Person {
  return { id, name, email }
}
