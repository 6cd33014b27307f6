/** A caller, as identified by a valid API key. Every store call includes the caller's workspace. */
import type { KeyScope } from '@stet/contract/vocabulary'

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
  /** The only project that the key may see; null means every project of the workspace. */
  projectId: number | null
  limit: number
  expiresAt: Date | null
}
