import type { CompileIssue } from '../compile-issue.ts'
import type { ProviderKind } from './provider-keys.ts'

/** The types of parameters that strict clients accept. */
export const PARAMETER_TYPES = ['text', 'image', 'file'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]

/**
 * A parameter of a prompt, with the keys of its declaration. Declared numbers, booleans, objects and arrays are `text`
 * here, because strict clients accept no other types; `config.parameters` keeps their type.
 *
 * @example { type: 'text', required: true, description: "The customer's name" }
 */
export interface DocumentParameter {
  type: ParameterType
  required?: boolean
  [key: string]: unknown
}

/**
 * A prompt as one version shows it.
 *
 * @example const compiles = document.errors.length === 0
 */
export interface Document {
  id: number
  /** Stable across versions. */
  documentUuid: string
  /** The same as `documentUuid`. */
  uuid: string
  path: string
  /** The prompt, exactly as stored. */
  content: string
  /** Without comments, with references inlined. */
  resolvedContent: string
  /** SHA-256 of `content` in lower-case hex. */
  contentHash: string
  /** The version that last changed the text. */
  commitId: number
  /** The requested version: its uuid, also for `live`. */
  versionUuid: string
  projectId: number
  /** The parsed front matter; empty when there is none or it is invalid. */
  config: Record<string, unknown>
  /** The declared parameters and every free variable, including those of referenced prompts. */
  parameters: Record<string, DocumentParameter>
  /** Absent if no configured provider key matches. */
  provider?: ProviderKind
  /** Empty when the prompt compiles. */
  errors: CompileIssue[]
  createdAt: string
  updatedAt: string
  mergedAt: string | null
  deletedAt: string | null
}

export interface ListDocumentsQuery {
  /** The start of the path. */
  prefix?: string
}

/** @example { path: 'support/reply', prompt: 'Hello {{ name }}' } */
export interface CreateDocumentBody {
  path: string
  prompt?: string
}

/** @example { path: 'support/reply' } */
export interface GetOrCreateDocumentBody {
  path: string
  prompt?: string
}

/** The expected current text of a write; another text at the path is a conflict. */
export interface ExpectedHashes {
  /** The `contentHash` that the change is based on; an empty string: no prompt exists at the path. */
  baseHash?: string
  /** In a draft: the `contentHash` of live's text that was merged in; an empty string: live has no such prompt. */
  liveHash?: string
}

/**
 * The body that creates a prompt or replaces its text.
 *
 * @example { path: 'support/reply', prompt: 'Hello {{ name }}', baseHash: '' } // only if it does not exist yet
 */
export interface CreateOrUpdateDocumentBody extends ExpectedHashes {
  path: string
  prompt: string
  /** Permits changes to a merged version; the key then also needs the scope `publish`. */
  force?: boolean
}

export interface DeletedDocument {
  documentUuid: string
  path: string
}
