/** Ports of access: keys, workspaces and a counter of requests. */
import type { Author } from '../../shared/caller.ts'
import type { ApiKey } from './api-key.ts'

export type NewApiKey = Omit<ApiKey, 'id' | 'lastUsedAt' | 'revokedAt' | 'createdAt' | 'limit'> & {
  hash: string
  /** Requests per second of plan `custom`; null for the others. */
  customLimit: number | null
}

export interface ApiKeyStore {
  /**
   * The only lookup without a workspace, which it determines. The statement itself excludes keys that are revoked, or
   * expired at `now`, so that it takes no longer for them than for unknown keys.
   */
  findUsable(hash: string, now: Date): Promise<ApiKey | null>
  list(workspaceId: number): Promise<ApiKey[]>
  findOptional(workspaceId: number, id: number): Promise<(ApiKey & { hash: string }) | null>
  create(workspaceId: number, input: NewApiKey): Promise<ApiKey>
  revoke(workspaceId: number, id: number, at: Date): Promise<void>
  setExpiry(workspaceId: number, id: number, expiresAt: Date): Promise<void>
  /** Serializes revocations in a workspace: two requests must not each revoke one of the last two admin keys. */
  lockAdminKeys(workspaceId: number): Promise<void>
  /** Usable admin keys, not restricted to a project, besides `exceptId`. */
  countOtherAdminKeys(workspaceId: number, exceptId: number, at: Date): Promise<number>
  /** Written at most once a minute per key. */
  touch(id: number, at: Date): Promise<void>
}

export interface Workspace {
  id: number
  name: string
}

export interface WorkspaceStore {
  find(id: number): Promise<Workspace>
  /** The first workspace, or null in an empty database. */
  findFirst(): Promise<Workspace | null>
  findByName(name: string): Promise<Workspace | null>
  create(name: string): Promise<Workspace>
  createAuthor(workspaceId: number, input: Omit<Author, 'id'>): Promise<Author>
  /** The oldest author of that name. */
  findAuthorByName(workspaceId: number, name: string): Promise<Author | null>
  findFirstAuthor(workspaceId: number): Promise<Author | null>
  /** Serializes first starts of several servers on one database. */
  lockCreation(): Promise<void>
}

export interface SpentPoint {
  allowed: boolean
  remaining: number
  /** Epoch milliseconds at which the window ends. */
  resetAtMs: number
}

/** Counts requests per API key in a fixed window of one second. */
export interface RateLimiter {
  spend(apiKeyId: number, limit: number): Promise<SpentPoint>
}

/** Counts failed authentications per address: 20 in 10 s by default, 0 = not at all. */
export interface FailureLimiter {
  /** Seconds that the address must wait; 0 when it is below its limit. */
  blockedSeconds(address: string): Promise<number>
  record(address: string): Promise<void>
}
