import type { Session } from './session.ts'

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
