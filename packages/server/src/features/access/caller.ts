/** Who is calling: what a valid API key stands for. Every use case gets it and every store call carries its workspace. */
import type { Author } from '../../shared/author.ts'

export const scopes = ['read', 'run', 'write', 'publish', 'admin'] as const
export type Scope = (typeof scopes)[number]

export interface Caller {
  apiKeyId: number
  workspaceId: number
  author: Author
  scopes: readonly Scope[]
  /** The only project that the key sees; null = every project of the workspace. */
  projectId: number | null
  /** Requests per second. */
  limit: number
}
