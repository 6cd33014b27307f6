import type { Author } from '../../shared/caller.ts'
import type { ApiKey } from './api-key.ts'

export type NewApiKey = Omit<ApiKey, 'id' | 'lastUsedAt' | 'revokedAt' | 'createdAt' | 'limit'> & {
  hash: string
  /** Requests per second for the pricing plan `custom`; null for other pricing plans. */
  customLimit: number | null
}

export interface ApiKeyStore {
  /** The query itself excludes revoked and expired keys, so their lookup takes as long as that of unknown keys. */
  findUsable(hash: string, now: Date): Promise<ApiKey | null>
  /** Also finds a revoked or expired key, for the audit log. */
  findByHash(hash: string): Promise<Pick<ApiKey, 'id' | 'workspaceId'> | null>
  list(workspaceId: number): Promise<ApiKey[]>
  findOptional(workspaceId: number, id: number): Promise<(ApiKey & { hash: string }) | null>
  create(workspaceId: number, input: NewApiKey): Promise<ApiKey>
  revoke(workspaceId: number, id: number, at: Date): Promise<void>
  setExpiry(workspaceId: number, id: number, expiresAt: Date): Promise<void>
  /**
   * Serializes changes of a workspace's keys. Otherwise two requests could each revoke one of the last two admin keys,
   * or create the same author.
   */
  lockKeys(workspaceId: number): Promise<void>
  /** Counts the other usable admin keys that are not restricted to a project. */
  countOtherAdminKeys(workspaceId: number, exceptId: number, at: Date): Promise<number>
  /** Returns the authors of the keys that `countOtherAdminKeys` counts, each once, in no particular order. */
  listAdmins(workspaceId: number, at: Date): Promise<Author[]>
  touch(id: number, at: Date): Promise<void>
}

export interface Workspace {
  id: number
  name: string
}

export interface WorkspaceStore {
  find(id: number): Promise<Workspace>
  findFirst(): Promise<Workspace | null>
  findByName(name: string): Promise<Workspace | null>
  create(name: string): Promise<Workspace>
  createAuthor(workspaceId: number, input: Omit<Author, 'id'>): Promise<Author>
  /** Returns the oldest author with that name and that email, if given. */
  findAuthor(workspaceId: number, author?: Partial<Omit<Author, 'id'>>): Promise<Author | null>
  /** Compares without case. Returns the oldest author with that email. */
  findAuthorByEmail(workspaceId: number, email: string): Promise<Author | null>
  /** Serializes the creation of workspaces, for example by several starting servers. */
  lockCreation(): Promise<void>
}

/** Measures rows without reading their large values: PostgreSQL stores the size of a value beside its row. */
export interface StorageMeter {
  /** Sums the bytes of the rows in pages `from` to `from + pages - 1` of all tables, in one statement. */
  measure(from: number, pages: number): Promise<{ bytes: ReadonlyMap<number, number>; hasMore: boolean }>
}

/** The bytes that each workspace stores: as last measured, and everything since. */
export interface WorkspaceStorage {
  add(workspaceId: number, bytes: number): void
  totalBytes(): number
  /** @throws AppError RateLimitError if the workspace exceeds its limit. */
  requireRoom(workspaceId: number): void
  /** Calls `measure`, and replaces the sums by its result and what was added meanwhile. */
  replace(measure: () => Promise<Map<number, number>>): Promise<void>
}

export interface StorageDeps {
  use: WorkspaceStorage
  meter: StorageMeter
}

export interface SpentPoint {
  allowed: boolean
  remaining: number
  resetAtMs: number
}

/** Counts points, such as requests, per API key in fixed one-second windows. */
export interface RateLimiter {
  /** @param bucket the id of an API key, or a text for other buckets. @param points 1 by default, at most `limit`. */
  spend(bucket: number | string, limit: number, points?: number): Promise<SpentPoint>
}

/** Counts failed authentications per address. The default limit is 20 in 10 s; 0 turns it off. */
export interface FailureLimiter {
  blockedSeconds(address: string): Promise<number>
  record(address: string): Promise<void>
}
