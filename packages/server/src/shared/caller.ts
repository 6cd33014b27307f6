import type { KeyScope } from '@stet/contract/vocabulary'

export interface Author {
  id: number
  name: string
  email: string
}

/** The sender of a request, identified by its API key or by a session of the console, which acts for a key. */
export interface Caller {
  apiKeyId: number
  workspaceId: number
  author: Author
  scopes: readonly KeyScope[]
  /** The only project that the key can access. Null allows every project of the workspace. */
  projectId: number | null
  /** Requests per second. */
  limit: number
  /** Null for a request with an API key. */
  sessionId: number | null
}
