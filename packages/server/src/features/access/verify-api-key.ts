/** Malformed, unknown, revoked and expired keys get the same error. A malformed key costs no database query. */

import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { type ApiKey, hashApiKey, isWellFormedApiKey, keyScope } from './api-key.ts'
import type { FailureLimiter, SpentPoint } from './ports.ts'

const touchIntervalMs = 60_000

interface KnownKey {
  key: ApiKey
  caller: Caller
  touchedAtMs: number
}

/** @throws AppError UnauthorizedError, or RateLimitError after too many failures from `address`. */
export async function verifyApiKey(
  deps: Needs<'stores' | 'liveCache' | 'clock' | 'logger'> & { failures: FailureLimiter },
  { token, address }: { token: string | undefined; address(): string },
): Promise<Caller> {
  if (token === undefined || token === '') throw refuse('no-key')
  const known = await findKnownKey(deps, token, address)
  if (!known) return refuseKey(deps, address())
  touch(deps, known, deps.clock.now())
  return known.caller
}

class UnknownKey extends Error {}

async function findKnownKey(
  deps: Needs<'stores' | 'liveCache' | 'clock'> & { failures: FailureLimiter },
  token: string,
  address: () => string,
): Promise<KnownKey | null> {
  if (!isWellFormedApiKey(token)) return null
  const hash = hashApiKey(token)
  const scope = keyScope(hash)
  try {
    const known = await deps.liveCache.read(scope, 'caller', async () => {
      // A cached key skips this check, so it works even from a blocked address.
      await refuseFlood(deps, address())
      const key = await deps.stores.apiKeys.findUsable(hash, deps.clock.now())
      // Throws, because a failed load is not cached. Unknown keys then cannot fill the memory.
      if (!key) throw new UnknownKey()
      return { key, caller: callerOf(key), touchedAtMs: key.lastUsedAt?.getTime() ?? 0 }
    })
    const { revokedAt, expiresAt } = known.key
    if (revokedAt === null && (expiresAt === null || expiresAt > deps.clock.now())) return known
    deps.liveCache.dropHere(scope)
    return null
  } catch (error) {
    if (error instanceof UnknownKey) return null
    throw error
  }
}

/** @throws AppError RateLimitError if the address is blocked. */
export async function refuseFlood(deps: { failures: FailureLimiter }, address: string): Promise<void> {
  const retryAfter = await deps.failures.blockedSeconds(address)
  if (retryAfter > 0) throw refuse('failed-authentications', { retryAfter })
}

async function refuseKey(deps: FailureDeps, address: string): Promise<never> {
  await refuseFlood(deps, address)
  await countFailure(deps, address)
  throw refuse('unknown-key')
}

/** The error for a request that its rate limit does not allow. */
export function rateLimited({ resetAtMs }: SpentPoint, limit: number, now: Date): Error {
  return refuse('rate-limited', { limit, retryAfter: Math.max(1, Math.ceil((resetAtMs - now.getTime()) / 1000)) })
}

type FailureDeps = Needs<'logger'> & { failures: FailureLimiter }

/** Counts a failed authentication. Too many of them block the address. */
export async function countFailure(deps: FailureDeps, address: string): Promise<void> {
  await deps.failures.record(address)
  if ((await deps.failures.blockedSeconds(address)) > 0) deps.logger.warn('audit.authentication-burst', { address })
}

function touch(deps: Needs<'stores' | 'logger'>, known: KnownKey, now: Date): void {
  if (now.getTime() - known.touchedAtMs < touchIntervalMs) return
  known.touchedAtMs = now.getTime()
  known.key.lastUsedAt = now
  deps.stores.apiKeys.touch(known.key.id, now).catch((error: unknown) => {
    const reason = error instanceof Error ? error.name : 'unknown'
    deps.logger.warn('api-key.touch-failed', { apiKeyId: known.key.id, reason })
  })
}

export function callerOf(key: ApiKey): Caller {
  const { id: apiKeyId, workspaceId, author, scopes, projectId, limit } = key
  return { apiKeyId, workspaceId, author, scopes, projectId, limit, sessionId: null }
}
