/** The storage of documents: the texts of a version, and the rows behind them. */
import type { DocumentText } from './document.ts'

/** Identifies the texts of a version: a draft over live, or the merged set of a number. */
export interface VersionSet {
  id: number
  projectId: number
  /** Null for a draft. */
  number: number | null
}

/** A draft's own row at one path: an edit, an addition, or (with `deletedAt`) a soft delete. */
export interface DraftRow extends DocumentText {
  /** The hash of live's text when the draft first changed the path; null = no document. */
  baseHash: string | null
  deletedAt: Date | null
}

/** One path in a draft and in live. Every rule about changes is computed from it. */
export interface Slot {
  path: string
  draft: DraftRow | null
  live: DocumentText | null
}

/** A draft's row to be written. It replaces the draft's row at the path. */
export interface DraftWrite {
  path: string
  documentUuid: string
  content: string
  contentHash: string
  baseHash: string | null
  deletedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** A merged text, visible from publication `validFrom` to before `validTo`. */
export interface MergedText extends DocumentText {
  validFrom: number
  validTo: number
}

export type MergedWrite = Omit<MergedText, 'id' | 'projectId' | 'mergedAt'>

export interface MergedReplacement {
  /** The row of the edited publication ends at `end`, or is deleted if `end` is null. */
  old: { id: number; end: number | null } | null
  pieces: readonly MergedWrite[]
}

/** Writers hold the project's row lock (`ProjectStore.lock`); no method here takes it. */
export interface DocumentStore {
  /** The texts of the version by path, in code point order. The overlay of draft over live is one statement. */
  list(workspaceId: number, set: VersionSet, prefix?: string): Promise<DocumentText[]>
  /** The given paths that exist in the version. */
  listByPaths(workspaceId: number, set: VersionSet, paths: readonly string[]): Promise<DocumentText[]>
  /**
   * Texts with the tag `<prompt`, and those at the paths, in the order of `list`. A text without the tag is affected
   * only by its own change.
   */
  listReferring(workspaceId: number, set: VersionSet, paths: readonly string[]): Promise<DocumentText[]>
  /** Every path at which the two versions of one project differ, and possibly some more. */
  listDifferingPaths(workspaceId: number, one: VersionSet, other: VersionSet): Promise<string[]>
  /** Up to `limit` paths of the version, unordered. */
  listPaths(workspaceId: number, set: VersionSet, limit: number): Promise<string[]>
  findOptional(workspaceId: number, set: VersionSet, path: string): Promise<DocumentText | null>
  /** The slots at the given paths (default: at every path that the draft has a row for), in path order. */
  listSlots(workspaceId: number, draft: VersionSet, paths?: readonly string[]): Promise<Slot[]>
  saveDraft(workspaceId: number, draft: VersionSet, writes: readonly DraftWrite[]): Promise<void>
  /** Deletes the draft's own rows at these paths. */
  deleteDraft(workspaceId: number, draft: VersionSet, paths: readonly string[]): Promise<void>
  /**
   * Makes the draft's rows part of every merged set from `number` on. Soft deletes end live's rows.
   * @param paths all paths with a row of the draft.
   */
  publishDraft(workspaceId: number, draft: VersionSet, number: number, paths: readonly string[]): Promise<void>
  /** The row of the merged set `number` at a path. */
  findMergedOptional(workspaceId: number, set: VersionSet, number: number, path: string): Promise<MergedText | null>
  /** Replaces one row with the pieces of a forced edit. */
  replaceMerged(workspaceId: number, set: VersionSet, replacement: MergedReplacement): Promise<void>
  /** Records the author of an edit of a merged version. */
  recordForcedEdit(workspaceId: number, set: VersionSet, edit: ForcedEdit): Promise<void>
}

export interface ForcedEdit {
  path: string
  authorId: number
  oldHash: string | null
  newHash: string
  at: Date
}
