/** Opens a session with the code of a sign-in link or with an API key. Every refusal looks the same to the caller. */

import { refuse } from '../../shared/app-error.ts'
import { type ApiKey, hashApiKey, isWellFormedApiKey } from '../access/api-key.ts'
import type { FailureLimiter, RateLimiter } from '../access/ports.ts'
import { countFailure, rateLimited, refuseFlood } from '../access/verify-api-key.ts'
import type { Needs, Stores } from '../deps.ts'
import { logEnd } from './end-session.ts'
import type { StoredSession } from './ports.ts'
import {
  generateSecret,
  hashSecret,
  isUsableKey,
  isWellFormedSecret,
  lifetimeOf,
  type Session,
  sessionScope,
  sessionsPerKey,
} from './session.ts'

type Credential = { code: string } | { apiKey: string }

/** The key is absent if the code or the key is unknown. */
interface Refusal {
  reason: 'unknown-code' | 'used-code' | 'expired-code' | 'ended-key' | 'unknown-key'
  workspaceId?: number
  apiKeyId?: number
}

type SignInDeps = Needs<'stores' | 'clock' | 'logger'> & { failures: FailureLimiter }

/**
 * Costs the key one request of its rate limit. Ends the oldest sessions of a key with too many.
 * @throws AppError UnauthorizedError; RateLimitError above the key's rate limit, and after too many failures from
 * `address`.
 */
export async function openSession(
  deps: SignInDeps & Needs<'transaction' | 'liveCache'> & { rateLimiter: RateLimiter },
  input: { credential: Credential; userAgent: string; address: string },
): Promise<{ session: Session; token: string }> {
  const { credential, userAgent, address } = input
  await refuseFlood(deps, address)
  const now = deps.clock.now()
  const found = await keyOf(deps.stores, credential, { now, isUsedUp: false })
  if ('reason' in found) return refuseSignIn(deps, address, found)
  // Before the transaction, because a refusal must not use up the code.
  const point = await deps.rateLimiter.spend(found.id, found.limit)
  if (!point.allowed) throw rateLimited(point, found.limit, now)
  const token = generateSecret()
  const opened = await deps.transaction(async (stores) => {
    const key = await keyOf(stores, credential, { now, isUsedUp: true })
    if ('reason' in key) return key
    // Locks the row of the key, so that parallel sign-ins cannot exceed the limit of sessions.
    await stores.apiKeys.touch(key.id, now)
    // Rows of ended sessions have no other use, and sign-ins are rare.
    await stores.sessions.deleteExpired(key.workspaceId, now)
    const expiresAt = new Date(now.getTime() + lifetimeOf(key).longestMs)
    const row = { apiKeyId: key.id, tokenHash: hashSecret(token), userAgent, createdAt: now, expiresAt }
    const session = await stores.sessions.create(key.workspaceId, row)
    return { session, ended: await deleteOldest(stores, session) }
  })
  if ('reason' in opened) return refuseSignIn(deps, address, opened)
  const { session, ended } = opened
  const { id: sessionId, workspaceId, apiKey } = session
  if ('code' in credential) deps.logger.info('audit.link-used', { workspaceId, apiKeyId: apiKey.id, sessionId })
  deps.logger.info('audit.session-opened', { workspaceId, apiKeyId: apiKey.id, sessionId })
  for (const oldest of ended) {
    await deps.liveCache.drop(sessionScope(oldest.tokenHash))
    logEnd(deps, oldest, apiKey.id)
  }
  return { session, token }
}

async function deleteOldest({ sessions }: Stores, { workspaceId, apiKey }: Session): Promise<StoredSession[]> {
  const oldest = (await sessions.list(workspaceId, { apiKeyId: apiKey.id })).slice(sessionsPerKey)
  for (const { id } of oldest) await sessions.delete(workspaceId, id)
  return oldest
}

/** Returns the key that a code signs in with. The code stays usable. @throws AppError as `openSession`. */
export async function previewSignIn(deps: SignInDeps, input: { code: string; address: string }): Promise<ApiKey> {
  await refuseFlood(deps, input.address)
  const key = await keyOf(deps.stores, input, { now: deps.clock.now(), isUsedUp: false })
  return 'reason' in key ? refuseSignIn(deps, input.address, key) : key
}

function keyOf(stores: Stores, credential: Credential, use: { now: Date; isUsedUp: boolean }) {
  return 'code' in credential ? keyOfCode(stores, credential.code, use) : keyItself(stores, credential.apiKey, use.now)
}

async function keyOfCode(
  stores: Stores,
  code: string,
  { now, isUsedUp }: { now: Date; isUsedUp: boolean },
): Promise<ApiKey | Refusal> {
  if (!isWellFormedSecret(code)) return { reason: 'unknown-code' }
  const codeHash = hashSecret(code)
  const used = isUsedUp ? await stores.signInLinks.use(codeHash, now) : null
  const link = used ?? (await stores.signInLinks.findByCode(codeHash))
  if (!link) return { reason: 'unknown-code' }
  const { workspaceId, apiKeyId } = link
  if (!used && link.usedAt !== null) return { reason: 'used-code', workspaceId, apiKeyId }
  if (link.expiresAt <= now) return { reason: 'expired-code', workspaceId, apiKeyId }
  const key = await stores.apiKeys.findOptional(workspaceId, apiKeyId)
  return key && isUsableKey(key, now) ? key : { reason: 'ended-key', workspaceId, apiKeyId }
}

async function keyItself(stores: Stores, apiKey: string, now: Date): Promise<ApiKey | Refusal> {
  if (!isWellFormedApiKey(apiKey)) return { reason: 'unknown-key' }
  const hash = hashApiKey(apiKey)
  const usable = await stores.apiKeys.findUsable(hash, now)
  if (usable) return usable
  const ended = await stores.apiKeys.findByHash(hash)
  return ended ? { reason: 'ended-key', workspaceId: ended.workspaceId, apiKeyId: ended.id } : { reason: 'unknown-key' }
}

/** Only the audit line names the reason and the key. */
async function refuseSignIn(deps: SignInDeps, address: string, refusal: Refusal): Promise<never> {
  deps.logger.info('audit.session-refused', { ...refusal, address })
  await countFailure(deps, address)
  throw refuse('sign-in-refused')
}
