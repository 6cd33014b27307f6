import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { type ApiKey, keyScope } from './api-key.ts'

/** Idempotent. @throws AppError NotFoundError; ConflictError for the last usable admin key. */
export async function revokeApiKey(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: { caller: Caller; id: number },
): Promise<ApiKey> {
  const { workspaceId } = input.caller
  const now = deps.clock.now()
  const { key, isNew } = await deps.transaction(async (stores) => {
    await stores.apiKeys.lockKeys(workspaceId)
    const found = await stores.apiKeys.findOptional(workspaceId, input.id)
    if (!found) throw refuse('unknown-api-key')
    if (found.revokedAt) return { key: found, isNew: false }
    const isUsableAdmin = found.scopes.includes('admin') && (found.expiresAt === null || found.expiresAt > now)
    if (isUsableAdmin && (await stores.apiKeys.countOtherAdminKeys(workspaceId, found.id, now)) === 0) {
      throw refuse('last-admin-key')
    }
    await stores.apiKeys.revoke(workspaceId, found.id, now)
    return { key: { ...found, revokedAt: now }, isNew: true }
  })
  await deps.liveCache.drop(keyScope(key.hash))
  if (isNew) deps.logger.info('audit.api-key-revoked', { workspaceId, apiKeyId: key.id, by: input.caller.apiKeyId })
  return key
}
