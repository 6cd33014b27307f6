import type { ExpectedHashes } from './documents.ts'

/** A draft can change; a merged version was published and is final. */
export const VERSION_STATUSES = ['draft', 'merged'] as const
export type VersionStatus = (typeof VERSION_STATUSES)[number]

/**
 * A version of the prompts of a project. Legacy clients call it a commit.
 *
 * @example const drafts = versions.filter(({ status }) => status === 'draft')
 */
export interface Version {
  id: number
  uuid: string
  projectId: number
  /** The name; the same as `title`. */
  message: string
  title: string
  /** Release notes. */
  description: string | null
  authorId: number
  authorName: string
  authorEmail: string
  /** `authorId` as text, for legacy clients. */
  userId: string
  status: VersionStatus
  /** The number from publication. Each project starts at 1. */
  version: number | null
  /** The version that was live when this one was created. */
  parentCommitUuid: string | null
  mergedAt: string | null
  deletedAt: null
  mainDocumentUuid: null
  isLive: boolean
  createdAt: string
  /** Changes with every change in the version, including its prompts. */
  updatedAt: string
}

export interface ListVersionsQuery {
  status?: VersionStatus
}

/** @example { name: 'Friendlier tone' } */
export interface CreateVersionBody {
  name: string
}

/**
 * The body that publishes a draft; every field is optional.
 *
 * @example { title: 'Friendlier tone', description: 'Replies greet by name.' }
 */
export interface PublishVersionBody {
  /** If absent or empty, the title does not change. */
  title?: string
  /** An empty string clears the notes. */
  description?: string
  /** Overwrites changes made to live since the draft was opened. */
  force?: boolean
}

/** The effect of a push on one path. `added` and `modified` both create or replace; `unchanged` is skipped. */
export const CHANGE_STATUSES = ['added', 'modified', 'deleted', 'unchanged'] as const
export type ChangeStatus = (typeof CHANGE_STATUSES)[number]

/**
 * One change of a push. `added` and `modified` require `content`.
 *
 * @example { path: 'support/reply', status: 'modified', content: 'Hello {{ name }}' }
 */
export interface Change extends ExpectedHashes {
  path: string
  status: ChangeStatus
  content?: string
  /** Accepted and ignored. */
  contentHash?: string
}

/**
 * The body of a push: all changes are applied, or none.
 *
 * @example { changes: [{ path: 'support/reply', status: 'added', content: 'Hello' }] }
 */
export interface PushChangesBody {
  /** One entry per path. May be empty. */
  changes: Change[]
}

/** The applied changes of a push. */
export interface PushResult {
  commitUuid: string
  /** The same as `commitUuid`. */
  versionUuid: string
  documentsProcessed: number
  added: number
  modified: number
  deleted: number
}

/** The body of a revert; without `paths` every change of the draft is dropped. */
export interface RevertVersionBody {
  paths?: string[]
}

/** The dropped change: a deletion (`restored`), an edit (`reset`) or an addition (`removed`). */
export interface RevertResult {
  versionUuid: string
  reverted: { path: string; documentUuid: string; action: 'restored' | 'reset' | 'removed' }[]
}

export interface DiffVersionsQuery {
  /** A version uuid or `live`. Default: live for a draft, the previous number for a merged version. */
  base?: string
}

/** One side of a changed prompt. */
export interface DiffSide {
  content: string
  contentHash: string
}

/** The changes from one version to another, ordered by path. */
export interface VersionDiff {
  base: string | null
  head: string
  changes: {
    path: string
    documentUuid: string
    status: 'added' | 'modified' | 'deleted'
    before: DiffSide | null
    after: DiffSide | null
    /** Publishing would be refused, because live has changed this path since. */
    conflict: boolean
  }[]
}
