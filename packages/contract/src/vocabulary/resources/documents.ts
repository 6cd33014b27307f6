import type { CompileIssue, LocatedIssue, PromptIssue } from '../compile-issue.ts'
import type { Message } from '../message.ts'
import type { Person } from './person.ts'
import type { ProviderKind } from './provider-keys.ts'

export const PARAMETER_TYPES = ['text', 'image', 'file'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]

/**
 * A parameter with the keys of its declaration. Declared numbers, booleans, objects and arrays have the type `text`,
 * because legacy clients accept only `text`, `image` and `file`. `config.parameters` keeps the declared type.
 * @example { type: 'text', required: true, description: "The customer's name" }
 */
export interface DocumentParameter {
  type: ParameterType
  required?: boolean
  [key: string]: unknown
}

/** @example const compiles = document.errors.length === 0 */
export interface Document {
  id: number
  /** Stays the same across versions. */
  documentUuid: string
  /** Same as `documentUuid`. */
  uuid: string
  path: string
  content: string
  /** The content without comments and with references inlined. */
  resolvedContent: string
  /** SHA-256 of `content` in lower-case hex. */
  contentHash: string
  /** The id of the version that last changed the text. */
  commitId: number
  /** The version's uuid, even if the request used `live`. */
  versionUuid: string
  projectId: number
  /** The parsed front matter. Empty if the front matter is missing or invalid. */
  config: Record<string, unknown>
  /** Declared parameters and all free variables, including those in the attributes of references. */
  parameters: Record<string, DocumentParameter>
  /** Absent if no configured provider key matches. */
  provider?: ProviderKind
  /** Empty if the prompt compiles. */
  errors: CompileIssue[]
  /** At most 20, errors first: settings that a run refuses, and warnings. */
  issues: PromptIssue[]
  createdAt: string
  updatedAt: string
  mergedAt: string | null
  deletedAt: string | null
  /** The author of the last change. Null if an earlier release stored it. */
  updatedBy: Person | null
}

/** @example { prefix: 'support/', resolved: false, limit: 100, cursor: 'support/reply' } */
export interface ListDocumentsQuery {
  prefix?: string
  /** If false, the prompts have no `resolvedContent`. Default: true. */
  resolved?: boolean
  /** Default: all prompts. A page with fewer prompts is the last one. */
  limit?: number
  /** The `path` of the last prompt of the previous page. */
  cursor?: string
}

/** A prompt of a list. `resolvedContent` is absent if the query has `resolved: false`. */
export interface ListedDocument extends Omit<Document, 'resolvedContent'> {
  resolvedContent?: string
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

/** Hashes that the current texts must have. If a hash differs, the server responds with 409. */
export interface ExpectedHashes {
  /** The `contentHash` that the change is based on. An empty string requires that the prompt does not exist. */
  baseHash?: string
  /**
   * For drafts only. The `contentHash` of the live text that is merged into this change. An empty string means that
   * live has no such prompt.
   */
  liveHash?: string
}

/** @example { path: 'support/reply', prompt: 'Hello {{ name }}', baseHash: '' } // only if it does not exist yet */
export interface CreateOrUpdateDocumentBody extends ExpectedHashes {
  path: string
  prompt: string
  /** Allows changes to a merged version. This also requires the key scope `publish`. */
  force?: boolean
}

export interface DeletedDocument {
  documentUuid: string
  path: string
}

/**
 * The prompt to check. Without `prompt`, the stored text is checked.
 * @example { path: 'support/reply', prompt: 'Hello {{ name }}', parameters: { name: 'Ada' } }
 */
export interface CheckDocumentBody {
  path: string
  /** A text that is checked instead of the stored one. This also requires the key scope `write`. */
  prompt?: string
  /** The values for `messages`. */
  parameters?: Record<string, unknown>
}

/** @example const compiles = check.errors.length === 0 */
export interface DocumentCheck {
  /** The hash of the checked text. */
  contentHash: string
  /** At most 20. Empty if the prompt compiles and its first step renders. `path` may name a referenced prompt. */
  errors: LocatedIssue[]
  /** As in `Document`. */
  issues: PromptIssue[]
  config: Record<string, unknown>
  parameters: Record<string, DocumentParameter>
  /** Absent if no configured provider key matches. */
  provider?: ProviderKind
  /** The prompts that the checked text refers to. `documentUuid` is null for a missing prompt. */
  references: { path: string; documentUuid: string | null }[]
  /** The prompts of the version that refer to this path. */
  referencedBy: { path: string; documentUuid: string }[]
  /** The messages of the first step, as the model would receive them. Null without `parameters` or with errors. */
  messages: Message[] | null
}
