import type { ExpectedHashes } from './documents.ts'

/** A draft can change. A merged version was published and is final. */
export const VERSION_STATUSES = ['draft', 'merged'] as const
export type VersionStatus = (typeof VERSION_STATUSES)[number]

/**
 * A version of a project's prompts. Legacy clients call it a commit.
 * @example const drafts = versions.filter(({ status }) => status === 'draft')
 */
export interface Version {
  id: number
  uuid: string
  projectId: number
  /** Same as `title`. */
  message: string
  title: string
  description: string | null
  authorId: number
  authorName: string
  authorEmail: string
  /** `authorId` as text, for legacy clients. */
  userId: string
  status: VersionStatus
  /** Assigned at publication. Each project starts at 1. */
  version: number | null
  /** The live version at the time this version was created. */
  parentCommitUuid: string | null
  mergedAt: string | null
  deletedAt: null
  mainDocumentUuid: null
  isLive: boolean
  createdAt: string
  /** Changes with every change to the version or its prompts. */
  updatedAt: string
}

export interface ListVersionsQuery {
  status?: VersionStatus
}

/** @example { name: 'Friendlier tone' } */
export interface CreateVersionBody {
  name: string
}

/** @example { title: 'Friendlier tone', description: 'Replies greet by name.' } */
export interface PublishVersionBody {
  /** Absent or empty keeps the title. */
  title?: string
  /** An empty string clears the release notes. */
  description?: string
  /** Overwrites live changes made since the draft was created. */
  force?: boolean
}

/** `added` and `modified` both create or replace the prompt. `unchanged` is skipped. */
export const CHANGE_STATUSES = ['added', 'modified', 'deleted', 'unchanged'] as const
export type ChangeStatus = (typeof CHANGE_STATUSES)[number]

/**
 * One change of a push. `added` and `modified` require `content`.
 * @example { path: 'support/reply', status: 'modified', content: 'Hello {{ name }}' }
 */
export interface Change extends ExpectedHashes {
  path: string
  status: ChangeStatus
  content?: string
  /** Accepted but ignored. */
  contentHash?: string
}

/**
 * Pushes changes atomically.
 * @example { changes: [{ path: 'support/reply', status: 'added', content: 'Hello' }] }
 */
export interface PushChangesBody {
  /** One entry per path. The list may be empty. */
  changes: Change[]
}

export interface PushResult {
  commitUuid: string
  /** Same as `commitUuid`. */
  versionUuid: string
  documentsProcessed: number
  added: number
  modified: number
  deleted: number
}

/** Without `paths`, the draft drops all of its changes. */
export interface RevertVersionBody {
  paths?: string[]
}

/** A deletion is `restored`, an edit is `reset`, and an addition is `removed`. */
export interface RevertResult {
  versionUuid: string
  reverted: { path: string; documentUuid: string; action: 'restored' | 'reset' | 'removed' }[]
}

export interface DiffVersionsQuery {
  /** A version uuid or `live`. Default: live for a draft, the previous number for a merged version. */
  base?: string
}

export interface DiffSide {
  content: string
  contentHash: string
}

/** Changes are ordered by path. */
export interface VersionDiff {
  base: string | null
  head: string
  changes: {
    path: string
    documentUuid: string
    status: 'added' | 'modified' | 'deleted'
    before: DiffSide | null
    after: DiffSide | null
    /** Publishing would be refused because live changed this path since. */
    conflict: boolean
  }[]
}
