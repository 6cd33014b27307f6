import type { KeyScope } from '../scopes.ts'
import type { ApiKey } from './api-keys.ts'
import type { Person } from './person.ts'

/** A person signed in to the console. The session acts for one API key and ends with it. */
export interface Session {
  id: number
  apiKey: ApiKey
  workspace: { id: number; name: string }
  /** The people who can change keys, people and providers, by name. Without the keys of programs. */
  admins: Person[]
  /** The latest end. The session ends earlier if it is not used. */
  expiresAt: string
  /** Features that this server has beyond the first release. */
  features: string[]
  /** The version of the server. */
  version: string
  database: 'embedded' | 'postgresql'
}

/**
 * Opens a session with the code of a sign-in link, or with an API key. With `peek`, the response only shows who the code
 * signs in, and the code stays usable.
 * @example { code: location.hash.slice(1) }
 */
export interface SignInBody {
  code?: string
  apiKey?: string
  peek?: boolean
}

/** The person, workspace and scopes that a code signs in with. */
export interface SignInPreview {
  workspace: { id: number; name: string }
  author: Person
  scopes: KeyScope[]
}

/** An entry in the list of sessions. */
export interface ConsoleSession {
  id: number
  apiKey: { id: number; name: string; prefix: string }
  author: Person
  /** The browser's own description of itself; empty if it sent none. */
  userAgent: string
  createdAt: string
  /** Up to a minute old. */
  lastSeenAt: string
  expiresAt: string
  /** True for the session of this request. */
  isCurrent: boolean
}

/** @example { apiKeyId: created.id, ttlSeconds: 604800 } */
export interface CreateSignInLinkBody {
  /** The key that the link signs in with. Default: the caller's key. Another key requires the scope `admin`. */
  apiKeyId?: number
  /** Seconds for which the link works. Default: 60. */
  ttlSeconds?: number
}

/** A link that signs in once. */
export interface SignInLink {
  url: string
  expiresAt: string
}
