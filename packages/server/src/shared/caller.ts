/** The caller that a valid API key identifies, and its author. Every store call carries the caller's workspace. */
import type { KeyScope } from '@stet/contract/vocabulary'

/** The author of a key. Everything that a request creates is attributed to its key's author. */
export interface Author {
  id: number
  name: string
  email: string
}

export interface Caller {
  apiKeyId: number
  workspaceId: number
  author: Author
  scopes: readonly KeyScope[]
  /** The only project that the key sees; null = every project of the workspace. */
  projectId: number | null
  /** Requests per second. */
  limit: number
  /** null = never. */
  expiresAt: Date | null
}
