/** Finds the caller behind a session's token. A session that has ended counts as a missing one. */

import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { keyScope } from '../access/api-key.ts'
import type { FailureLimiter } from '../access/ports.ts'
import { callerOf, countFailure, refuseFlood } from '../access/verify-api-key.ts'
import type { Needs } from '../deps.ts'
import { hashSecret, isOpenSession, isWellFormedSecret, type Session, sessionLimit, sessionScope } from './ports.ts'

const touchIntervalMs = 60_000

interface KnownSession {
  session: Session
  caller: Caller
  /** The cache scope of the session's key, and the drop count before the session was read. */
  keyScope: string
  drops: number
}

type VerifyDeps = Needs<'stores' | 'liveCache' | 'clock' | 'logger'> & { failures: FailureLimiter }

/** @throws AppError UnauthorizedError, or RateLimitError after too many failures from `address`. */
export async function verifySession(
  deps: VerifyDeps,
  { token, address }: { token: string; address: string },
): Promise<Caller> {
  const known = isWellFormedSecret(token) ? await findKnownSession(deps, hashSecret(token), address) : null
  if (!known) throw refuse('no-key')
  touch(deps, known, deps.clock.now())
  return known.caller
}

class UnknownSession extends Error {}

/**
 * Revoking a key drops the key's cache scope, on all servers. A cached session is therefore used only if that scope was
 * not dropped since, and otherwise read again.
 */
async function findKnownSession(deps: VerifyDeps, tokenHash: string, address: string): Promise<KnownSession | null> {
  const { liveCache, clock } = deps
  const scope = sessionScope(tokenHash)
  const read = () => liveCache.read(scope, 'caller', () => loadSession(deps, tokenHash, address))
  try {
    const known = await read()
    if (isOpenSession(known.session, clock.now()) && liveCache.areCurrent([known.keyScope], known.drops)) return known
    liveCache.dropHere(scope)
    return await read()
  } catch (error) {
    if (error instanceof UnknownSession) return null
    throw error
  }
}

async function loadSession(deps: VerifyDeps, tokenHash: string, address: string): Promise<KnownSession> {
  await refuseFlood(deps, address)
  const drops = deps.liveCache.drops()
  const found = await deps.stores.sessions.findByToken(tokenHash)
  if (!found || !isOpenSession(found, deps.clock.now())) {
    await countFailure(deps, address)
    // Throws, because a failed load is not cached.
    throw new UnknownSession()
  }
  const { tokenHash: _tokenHash, keyHash, ...session } = found
  const caller = { ...callerOf(session.apiKey), limit: sessionLimit, sessionId: session.id }
  return { session, caller, keyScope: keyScope(keyHash), drops }
}

/** Also counts as a use of the key. */
function touch({ stores, logger }: VerifyDeps, { session }: KnownSession, now: Date): void {
  if (now.getTime() - session.lastSeenAt.getTime() < touchIntervalMs) return
  session.lastSeenAt = now
  const { id, workspaceId, apiKey } = session
  Promise.all([stores.sessions.touch(workspaceId, id, now), stores.apiKeys.touch(apiKey.id, now)]).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.name : 'unknown'
      logger.warn('session.touch-failed', { sessionId: id, reason })
    },
  )
}
