/** A version as documents see it: an editable draft over live, or a merged set with its number. */
import type { Author } from '../../shared/author.ts'

export interface Version {
  id: number
  uuid: string
  projectId: number
  title: string
  description: string | null
  author: Author
  /** Null while a draft. */
  number: number | null
  parentVersionUuid: string | null
  isLive: boolean
  mergedAt: Date | null
  createdAt: Date
  updatedAt: Date
}
