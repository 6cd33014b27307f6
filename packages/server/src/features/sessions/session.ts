/** A session is a browser signed in to the console. It acts for one API key and never outlives that key. */

import { hash, randomBytes } from 'node:crypto'
import type { ApiKey } from '../access/api-key.ts'

export interface Session {
  id: number
  workspaceId: number
  apiKey: ApiKey
  userAgent: string
  createdAt: Date
  /** Up to a minute old. */
  lastSeenAt: Date
  /** The latest end, by the lifetime of sessions alone. */
  expiresAt: Date
}

/** The rate limit that all sessions of a key share, in requests per second. The plan of the key is not charged. */
export const sessionLimit = 50
/** The number of sessions that a key may have at once. A new sign-in ends the oldest ones. */
export const sessionsPerKey = 20
/** The number of event streams that a session may have open at once. */
export const sessionStreams = 8

const secretBytes = 32
const secretForm = /^[\w-]{43}$/
const dayMs = 86_400_000

/** 256 random bits as 43 characters: the token of a session, or the code of a sign-in link. */
export function generateSecret(): string {
  return randomBytes(secretBytes).toString('base64url')
}

export function isWellFormedSecret(text: string): boolean {
  return secretForm.test(text)
}

/** SHA-256 in hex. A slow hash adds nothing at 256 bits. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret)
}

/** Ending a session drops this cache scope. */
export function sessionScope(tokenHash: string): string {
  return `session:${tokenHash}`
}

/** Milliseconds without use and in all. Both are shorter for admins. */
export function lifetimeOf({ scopes }: Pick<ApiKey, 'scopes'>): { idleMs: number; longestMs: number } {
  return scopes.includes('admin')
    ? { idleMs: dayMs, longestMs: 7 * dayMs }
    : { idleMs: 7 * dayMs, longestMs: 30 * dayMs }
}

export function isUsableKey({ revokedAt, expiresAt }: ApiKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now)
}

export function isOpenSession({ apiKey, lastSeenAt, expiresAt }: Session, now: Date): boolean {
  const { idleMs } = lifetimeOf(apiKey)
  return expiresAt > now && now.getTime() - lastSeenAt.getTime() < idleMs && isUsableKey(apiKey, now)
}

/** The latest end, by the session's own lifetime or by that of its key. */
export function endOf({ apiKey, expiresAt }: Session): Date {
  return apiKey.expiresAt !== null && apiKey.expiresAt < expiresAt ? apiKey.expiresAt : expiresAt
}
