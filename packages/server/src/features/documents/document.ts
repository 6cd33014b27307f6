import type { Author } from '../../shared/caller.ts'
import type { WireParameter } from '../templates/parameters.ts'
import type { CompileIssue, PromptIssue } from '../templates/template-engine.ts'

export interface DocumentText {
  id: number
  documentUuid: string
  projectId: number
  /** Id of the version that last changed this text. */
  versionId: number
  path: string
  content: string
  contentHash: string
  /** When the text's version was published. Null for a text that belongs to a draft. */
  mergedAt: Date | null
  createdAt: Date
  updatedAt: Date
  /** The author of the last change. Null if that author was deleted. */
  updatedBy: Author | null
  /** The path in live from which the draft moved the prompt. Null in a merged version. */
  movedFrom: string | null
}

/** A text without its content. */
export type TextHead = Pick<DocumentText, 'documentUuid' | 'path' | 'contentHash' | 'updatedAt' | 'updatedBy'>

export interface Document extends UnresolvedDocument {
  resolvedContent: string
  /** Set by a write that merged its text with a newer one. */
  merged?: true
}

export interface UnresolvedDocument extends DocumentText {
  versionUuid: string
  /** True if the text references other prompts. `resolvedContent` can then change while the text stays the same. */
  hasReferences: boolean
  config: Record<string, unknown>
  parameters: Record<string, WireParameter>
  errors: CompileIssue[]
  issues: PromptIssue[]
}

/** The text that a run renders, as traces identify it. A forced edit changes the hash, but not the number. */
export interface PromptVersion {
  uuid: string
  /** Null for a draft. */
  number: number | null
  contentHash: string
}
