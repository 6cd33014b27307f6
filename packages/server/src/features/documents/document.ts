/** A document (prompt) as a version shows it, and the version: an editable draft over live, or a merged set with its number. */

import type { CompileIssue } from '../templates/template-engine.ts'

/** One stored text. */
export interface DocumentText {
  id: number
  documentUuid: string
  projectId: number
  /** Id of the version that last changed this document. */
  versionId: number
  path: string
  content: string
  /** SHA-256 of the content's UTF-8 bytes, lower-case hex. */
  contentHash: string
  /** When the holding version was published; null in a draft. */
  mergedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** A text with the result of its compilation in the addressed version. */
export interface Document extends DocumentText {
  /** The version that was addressed. */
  versionUuid: string
  resolvedContent: string
  /** Other prompts are part of `resolvedContent`, so it can change without the text. */
  hasReferences: boolean
  config: Record<string, unknown>
  /** Wire form: `type` is only ever text, image or file. */
  parameters: Record<string, { type: 'text' | 'image' | 'file'; [extra: string]: unknown }>
  errors: CompileIssue[]
}
