import { hash, randomBytes } from 'node:crypto'
import type { ApiKey } from '../access/api-key.ts'

export interface NewSession {
  apiKeyId: number
  tokenHash: string
  userAgent: string
  createdAt: Date
  expiresAt: Date
}

/** A session with the hashes that name its cache scopes. */
export type StoredSession = Session & { tokenHash: string; keyHash: string }

export interface SessionStore {
  /** Takes no workspace, because the token alone names the session. May return a session that has ended. */
  findByToken(tokenHash: string): Promise<StoredSession | null>
  findOptional(workspaceId: number, id: number): Promise<StoredSession | null>
  /** Newest first, including ended sessions. */
  list(workspaceId: number, filter: { apiKeyId?: number }): Promise<StoredSession[]>
  create(workspaceId: number, input: NewSession): Promise<Session>
  touch(workspaceId: number, id: number, at: Date): Promise<void>
  /** @returns false if another request has deleted it. */
  delete(workspaceId: number, id: number): Promise<boolean>
  deleteExpired(workspaceId: number, at: Date): Promise<void>
}

export interface SignInLink {
  workspaceId: number
  apiKeyId: number
  expiresAt: Date
  usedAt: Date | null
}

export interface SignInLinkStore {
  create(
    workspaceId: number,
    input: { apiKeyId: number; codeHash: string; createdAt: Date; expiresAt: Date },
  ): Promise<void>
  /** Takes no workspace, because the code alone names the link. */
  findByCode(codeHash: string): Promise<SignInLink | null>
  /** Marks the link as used in one statement. Only one of several parallel calls gets the link. */
  use(codeHash: string, at: Date): Promise<SignInLink | null>
  /** Deletes the links of a key except the newest `kept`. */
  deleteOldest(workspaceId: number, apiKeyId: number, kept: number): Promise<void>
  deleteExpired(workspaceId: number, at: Date): Promise<void>
}

/** The one row that identifies this database. */
export interface InstallationStore {
  findOptional(): Promise<string | null>
  /** Returns the uuid that is stored, which may be that of a parallel call. */
  save(uuid: string): Promise<string>
}

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
