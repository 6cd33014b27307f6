import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { type ApiKey, apiKeyPrefix, generateApiKey, hashApiKey, type IssuedApiKey, keyScope } from './api-key.ts'

/** @throws AppError NotFoundError; ConflictError for a revoked or expired key. */
export async function rotateApiKey(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  { caller, id, overlapSeconds }: { caller: Caller; id: number; overlapSeconds: number },
): Promise<IssuedApiKey> {
  const { workspaceId } = caller
  const now = deps.clock.now()
  const key = generateApiKey()
  const { oldHash, ...rotated } = await deps.transaction(async (stores) => {
    await stores.apiKeys.lockKeys(workspaceId)
    const old = await stores.apiKeys.findOptional(workspaceId, id)
    if (!old) throw refuse('unknown-api-key')
    if (old.revokedAt) throw refuse('revoked-key')
    if (old.expiresAt && old.expiresAt <= now) throw refuse('expired-key')
    await endKey(stores, old, now, overlapSeconds)
    return { apiKey: await stores.apiKeys.create(workspaceId, successorOf(old, key)), key, oldHash: old.hash }
  })
  await deps.liveCache.drop(keyScope(oldHash))
  const { apiKey } = rotated
  deps.logger.info('audit.api-key-rotated', { workspaceId, apiKeyId: id, successorId: apiKey.id, by: caller.apiKeyId })
  return rotated
}

function successorOf(old: ApiKey, key: string) {
  const { workspaceId, name, scopes, projectId, plan, author, expiresAt, limit } = old
  const customLimit = plan === 'custom' ? limit : null
  const secret = { hash: hashApiKey(key), prefix: apiKeyPrefix(key) }
  return { workspaceId, name, scopes, projectId, plan, author, expiresAt, customLimit, ...secret }
}

// The overlap never postpones the old key's expiry.
async function endKey(stores: Stores, old: ApiKey, now: Date, overlapSeconds: number): Promise<void> {
  if (overlapSeconds === 0) return stores.apiKeys.revoke(old.workspaceId, old.id, now)
  const end = new Date(now.getTime() + overlapSeconds * 1000)
  if (old.expiresAt === null || end < old.expiresAt) await stores.apiKeys.setExpiry(old.workspaceId, old.id, end)
}
