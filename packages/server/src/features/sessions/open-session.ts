/** Opens a session with the code of a sign-in link or with an API key, lists sessions and ends them. */

import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { type ApiKey, hashApiKey, isWellFormedApiKey } from '../access/api-key.ts'
import type { FailureLimiter, RateLimiter } from '../access/ports.ts'
import { countFailure, rateLimited, refuseFlood } from '../access/verify-api-key.ts'
import type { Needs, Stores } from '../deps.ts'
import {
  generateSecret,
  hashSecret,
  isOpenSession,
  isUsableKey,
  isWellFormedSecret,
  lifetimeOf,
  type Session,
  type StoredSession,
  sessionScope,
  sessionsPerKey,
} from './ports.ts'

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

type EndDeps = Needs<'stores' | 'liveCache' | 'clock' | 'logger'>

export async function listSessions(deps: Needs<'stores' | 'clock'>, caller: Caller): Promise<Session[]> {
  const filter = seesAll(caller) ? {} : { apiKeyId: caller.apiKeyId }
  const sessions = await deps.stores.sessions.list(caller.workspaceId, filter)
  const now = deps.clock.now()
  return sessions.filter((session) => isOpenSession(session, now))
}

/** @throws AppError NotFoundError for a session that `listSessions` does not return. */
export async function endSession(deps: EndDeps, { caller, id }: { caller: Caller; id: number }): Promise<void> {
  const found = await deps.stores.sessions.findOptional(caller.workspaceId, id)
  const isListed = found && isOpenSession(found, deps.clock.now())
  if (!isListed || !(seesAll(caller) || found.apiKey.id === caller.apiKeyId)) throw refuse('unknown-session')
  await end(deps, found, caller.apiKeyId)
}

/**
 * Ends the session that a new one replaces in the same browser. Does nothing if the token names none. Only logs a failure,
 * because the new session is already open.
 */
export async function endReplacedSession(deps: EndDeps, token: string): Promise<void> {
  if (!isWellFormedSecret(token)) return
  try {
    const found = await deps.stores.sessions.findByToken(hashSecret(token))
    if (found) await end(deps, found, found.apiKey.id)
  } catch (error) {
    deps.logger.warn('session.end-failed', { reason: error instanceof Error ? error.name : 'unknown' })
  }
}

async function end(deps: EndDeps, session: StoredSession, by: number): Promise<void> {
  const isEnded = await deps.stores.sessions.delete(session.workspaceId, session.id)
  await deps.liveCache.drop(sessionScope(session.tokenHash))
  if (isEnded) logEnd(deps, session, by)
}

/** @param by the key that ended the session. */
function logEnd(deps: Needs<'logger'>, { id, workspaceId, apiKey }: Session, by: number): void {
  deps.logger.info('audit.session-ended', { workspaceId, apiKeyId: apiKey.id, sessionId: id, by })
}

function seesAll({ scopes, projectId }: Caller): boolean {
  return scopes.includes('admin') && projectId === null
}
