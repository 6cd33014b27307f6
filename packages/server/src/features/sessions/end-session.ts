/** Lists and ends sessions. A caller sees the sessions of its own key; an admin of the workspace sees all of them. */

import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import type { StoredSession } from './ports.ts'
import { hashSecret, isOpenSession, isWellFormedSecret, type Session, sessionScope } from './session.ts'

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
export function logEnd(deps: Needs<'logger'>, { id, workspaceId, apiKey }: Session, by: number): void {
  deps.logger.info('audit.session-ended', { workspaceId, apiKeyId: apiKey.id, sessionId: id, by })
}

function seesAll({ scopes, projectId }: Caller): boolean {
  return scopes.includes('admin') && projectId === null
}
