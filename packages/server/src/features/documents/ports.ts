/** What documents need from storage: the set that a version shows, and the rows that make it up. */
import type { DocumentText } from './document.ts'

/** What a store has to know of a version to find its set: a draft over live, or the merged set of a number. */
export interface VersionSet {
  id: number
  projectId: number
  /** Null for a draft. */
  number: number | null
}

/** A draft's own row at one path: an edit, an addition, or (with `deletedAt`) a soft delete. */
export interface DraftRow extends DocumentText {
  /** The hash that live had here when the draft first changed the path; null = there was no document. */
  baseHash: string | null
  deletedAt: Date | null
}

/** One path as a draft and live hold it: what every rule about changes is computed from. */
export interface Slot {
  path: string
  draft: DraftRow | null
  live: DocumentText | null
}

/** A text to be written as a draft's row; it replaces the row that the draft has at the path. */
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

/** A merged text with the publications between which it is shown: `validFrom` to before `validTo`. */
export interface MergedText extends DocumentText {
  validFrom: number
  validTo: number
}

export type MergedWrite = Omit<MergedText, 'id' | 'projectId' | 'mergedAt'>

export interface MergedReplacement {
  /** The row that covers the edited publication: cut to end at `end`, or dropped where nothing of it would be left. */
  old: { id: number; end: number | null } | null
  pieces: readonly MergedWrite[]
}

/** Writers hold the project's row lock (`ProjectStore.lock`); no method here takes it. */
export interface DocumentStore {
  /** What the version shows, by path in code point order. The overlay of draft over live is one statement. */
  list(workspaceId: number, set: VersionSet, prefix?: string): Promise<DocumentText[]>
  /** Those of `paths` that the version shows. */
  listByPaths(workspaceId: number, set: VersionSet, paths: readonly string[]): Promise<DocumentText[]>
  /**
   * Those that refer to another, by the tag `<prompt`, and those at the paths; the same order as `list`. A text without
   * the tag is affected by nothing but its own change.
   */
  listReferring(workspaceId: number, set: VersionSet, paths: readonly string[]): Promise<DocumentText[]>
  /** Every path at which the two versions of one project differ, and perhaps some more. */
  listDifferingPaths(workspaceId: number, one: VersionSet, other: VersionSet): Promise<string[]>
  /** Some paths that the version shows, at most `limit`, in no order. */
  listPaths(workspaceId: number, set: VersionSet, limit: number): Promise<string[]>
  findOptional(workspaceId: number, set: VersionSet, path: string): Promise<DocumentText | null>
  /** The given paths, or without them every path that the draft has a row for; in path order. */
  listSlots(workspaceId: number, draft: VersionSet, paths?: readonly string[]): Promise<Slot[]>
  saveDraft(workspaceId: number, draft: VersionSet, writes: readonly DraftWrite[]): Promise<void>
  /** Drops the draft's own rows at these paths for good. */
  deleteDraft(workspaceId: number, draft: VersionSet, paths: readonly string[]): Promise<void>
  /**
   * Makes the draft's rows part of every merged set from `number` on; soft deletes end live's rows.
   * @param paths all that the draft has rows for.
   */
  publishDraft(workspaceId: number, draft: VersionSet, number: number, paths: readonly string[]): Promise<void>
  /** The row of the merged set `number` at a path. */
  findMergedOptional(workspaceId: number, set: VersionSet, number: number, path: string): Promise<MergedText | null>
  /** Puts the pieces of a forced edit in the place of one row. */
  replaceMerged(workspaceId: number, set: VersionSet, replacement: MergedReplacement): Promise<void>
  /** Records who edited a merged version in place. */
  recordForcedEdit(workspaceId: number, set: VersionSet, edit: ForcedEdit): Promise<void>
}

export interface ForcedEdit {
  path: string
  authorId: number
  oldHash: string | null
  newHash: string
  at: Date
}
