import type { KeyScope } from '@stet/contract/vocabulary'

export interface Author {
  id: number
  name: string
  email: string
}

/** The sender of a request, identified by its API key. */
export interface Caller {
  apiKeyId: number
  workspaceId: number
  author: Author
  scopes: readonly KeyScope[]
  /** The only project that the key can access. Null allows every project of the workspace. */
  projectId: number | null
  limit: number
  expiresAt: Date | null
}
