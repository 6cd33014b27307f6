/** A sign-in link works once. Its code is the fragment of the address, which browsers send to no server. */

import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { requireScope, requireUnrestricted } from '../access/api-key.ts'
import type { Needs } from '../deps.ts'
import { generateSecret, hashSecret } from './ports.ts'

/** The number of unexpired links that a key may have. Another link ends the oldest one. */
const linksPerKey = 100

export interface CreatedLink {
  code: string
  expiresAt: Date
}

/**
 * Creates a link for the caller's key or, as an admin of the workspace, for another key.
 * @throws AppError ForbiddenError; NotFoundError; ConflictError for a revoked or expired key.
 */
export async function createSignInLink(
  deps: Needs<'stores' | 'clock' | 'logger'>,
  { caller, apiKeyId, ttlSeconds }: { caller: Caller; apiKeyId: number; ttlSeconds: number },
): Promise<CreatedLink> {
  const { workspaceId } = caller
  if (apiKeyId !== caller.apiKeyId) {
    requireUnrestricted(caller)
    requireScope(caller, ['admin'])
  }
  const key = await deps.stores.apiKeys.findOptional(workspaceId, apiKeyId)
  if (!key) throw refuse('unknown-api-key')
  if (key.revokedAt !== null) throw refuse('revoked-key')
  if (key.expiresAt !== null && key.expiresAt <= deps.clock.now()) throw refuse('expired-key')
  const by = { by: caller.apiKeyId, ...(caller.sessionId === null ? {} : { sessionId: caller.sessionId }) }
  return makeLink(deps, { workspaceId, apiKeyId, ttlSeconds, by })
}

/** Creates a link without checking the key. Only for the operator, at the first start. */
export async function makeLink(
  deps: Needs<'stores' | 'clock' | 'logger'>,
  input: { workspaceId: number; apiKeyId: number; ttlSeconds: number; by?: { by: number; sessionId?: number } },
): Promise<CreatedLink> {
  const { workspaceId, apiKeyId, ttlSeconds, by = {} } = input
  const code = generateSecret()
  const createdAt = deps.clock.now()
  const expiresAt = new Date(createdAt.getTime() + ttlSeconds * 1000)
  await deps.stores.signInLinks.deleteExpired(workspaceId, createdAt)
  await deps.stores.signInLinks.deleteOldest(workspaceId, apiKeyId, linksPerKey - 1)
  await deps.stores.signInLinks.create(workspaceId, { apiKeyId, codeHash: hashSecret(code), createdAt, expiresAt })
  deps.logger.info('audit.link-made', { workspaceId, apiKeyId, ...by })
  return { code, expiresAt }
}

/** @param publicUrl has no trailing slash. */
export function signInUrl(publicUrl: string, code: string): string {
  return `${publicUrl}/sign-in#${code}`
}

/** The configured address of the server in browsers, otherwise the one that it listens on. */
export function publicUrlOf(
  { publicUrl, host }: { publicUrl: string | undefined; host: string },
  port: number | undefined,
): string {
  if (publicUrl !== undefined) return publicUrl
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}
