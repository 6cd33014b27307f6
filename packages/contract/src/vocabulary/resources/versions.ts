import type { ExpectedHashes } from './documents.ts'
import type { Person } from './person.ts'

/** A draft can change. A merged version was published, and only a write with `force` changes its prompts. */
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
  /** The number from publication. Each project starts at 1. Null for a draft. */
  version: number | null
  /** The version that was live when this version was created. */
  parentCommitUuid: string | null
  mergedAt: string | null
  deletedAt: null
  mainDocumentUuid: null
  isLive: boolean
  createdAt: string
  /** Changes with every change to the version or its prompts. */
  updatedAt: string
  /** Null for a draft, an imported version, or a version that an earlier release published. */
  publishedBy: Person | null
  /** The number of prompts that a draft changes against live, or a merged version against the number before it. */
  changeCount: number
  /** Edits after publication, with `force`, oldest first. */
  forcedEdits: ForcedEdit[]
}

/** An edit of a merged version in place. */
export interface ForcedEdit {
  path: string
  author: Person
  /** Null if the edit added the prompt. */
  oldHash: string | null
  newHash: string
  createdAt: string
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
  /** If absent or empty, the title does not change. */
  title?: string
  /** An empty string clears the release notes. */
  description?: string
  /** Publishes even if live has changed the same prompts. The draft's texts overwrite those of live. */
  force?: boolean
  /** The checks that refuse the release. Default: none. */
  block?: ReleaseCheck[]
}

export const RELEASE_CHECKS = ['configuration'] as const
/** `configuration` refuses settings that a run would refuse: the errors in `issues` of the prompts. */
export type ReleaseCheck = (typeof RELEASE_CHECKS)[number]

/** What a check of a release found. */
export interface ReleaseFinding {
  check: ReleaseCheck
  code: string
  level: 'break'
  path: string
  line: number
  column: number
  message: string
}

/**
 * The history of a version of another project. With `mergedAt` the draft becomes live, otherwise it stays a draft.
 * @example { title: 'Friendlier tone', authorName: 'Ada', createdAt: '2026-01-02T03:04:05.678Z', mergedAt: '2026-01-03T08:30:00.000Z' }
 */
export interface ImportVersionBody {
  /** Replaces the draft's uuid, so that programs that refer to the version keep working. Default: the draft's uuid. */
  uuid?: string
  title: string
  description?: string
  authorName: string
  authorEmail?: string
  createdAt: string
  mergedAt?: string
}

/** `added` and `modified` both create or replace the prompt. The server skips `unchanged`. */
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
 * The changes of a push. The server applies all of them or none.
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

/** Without `paths`, the revert drops all changes of the draft. */
export interface RevertVersionBody {
  paths?: string[]
}

/** A deletion is `restored`, an edit is `reset`, and an addition is `removed`. */
export interface RevertResult {
  versionUuid: string
  reverted: { path: string; documentUuid: string; action: 'restored' | 'reset' | 'removed' }[]
}

export interface DiffVersionsQuery {
  /** A version's uuid, or `live`. Default: live for a draft, the previous number for a merged version. */
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
    /** True if live has changed the prompt that this change is based on. Publishing is then refused without `force`. */
    conflict: boolean
  }[]
}

/**
 * One prompt of a version's tree, without its text.
 * @example const broken = tree.items.filter(({ compiles }) => compiles === false)
 */
export interface TreeItem {
  documentUuid: string
  path: string
  /** The hash of the deleted text if `change` is `deleted`. */
  contentHash: string
  /** The draft's change against live. Null if the texts are equal. Always null in a merged version. */
  change: 'added' | 'modified' | 'deleted' | null
  /** Null until this server has compiled the text with its current references. */
  compiles: boolean | null
  /** False if a run would refuse its settings: `issues` of the prompt has errors. Null as for `compiles`. */
  isConfigured: boolean | null
  /** True if the front matter has `type: agent`. Null until this server has compiled the text with its current references. */
  isAgent: boolean | null
  /** For a deleted prompt, the time of the deletion. */
  updatedAt: string
  /** The author of the last change. Null if an earlier release stored it. */
  updatedBy: Person | null
}

/** Items are ordered by path. A draft's tree also contains the prompts that the draft deletes from live. */
export interface VersionTree {
  version: Version
  items: TreeItem[]
}
