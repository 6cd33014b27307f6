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
  keyHash: string
  session: Session
  caller: Caller
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

/** The end of a session drops its own cache scope, and the revocation of its key drops the key's. So it is read through both. */
async function findKnownSession(deps: VerifyDeps, tokenHash: string, address: string): Promise<KnownSession | null> {
  const { liveCache, clock } = deps
  const scope = sessionScope(tokenHash)
  const load = () => loadSession(deps, tokenHash, address)
  const read = async () => {
    const keyHash = await liveCache.read(scope, 'key', async () => (await load()).keyHash)
    return liveCache.read(keyScope(keyHash), scope, load)
  }
  try {
    const known = await read()
    if (isOpenSession(known.session, clock.now())) return known
    // Another server may have seen it later.
    for (const each of [scope, keyScope(known.keyHash)]) liveCache.dropHere(each)
    return await read()
  } catch (error) {
    if (error instanceof UnknownSession) return null
    throw error
  }
}

async function loadSession(deps: VerifyDeps, tokenHash: string, address: string): Promise<KnownSession> {
  await refuseFlood(deps, address)
  const found = await deps.stores.sessions.findByToken(tokenHash)
  if (!found || !isOpenSession(found, deps.clock.now())) {
    await countFailure(deps, address)
    // Throws, because a failed load is not cached.
    throw new UnknownSession()
  }
  const { tokenHash: _tokenHash, keyHash, ...session } = found
  const caller = { ...callerOf(session.apiKey), limit: sessionLimit, sessionId: session.id }
  return { keyHash, session, caller }
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
