import type { Version } from '../projects/project.ts'
import type { DocumentText, TextHead } from './document.ts'

/** Identifies a version's texts: a draft over live (`number` is null), or a numbered merged set. */
export type VersionSet = Pick<Version, 'id' | 'projectId' | 'number'>

interface DraftState {
  /** The hash of live's text at the draft's first change or last merge. Null if live had no document. */
  baseHash: string | null
  deletedAt: Date | null
}

/** A draft's own row at one path: an edit, an addition, or (with `deletedAt`) a soft delete. */
export interface DraftRow extends DocumentText, DraftState {}

/** One path in a draft and in live. All rules about changes use slots. */
export interface SlotOf<Text> {
  path: string
  draft: (Text & DraftState) | null
  live: Text | null
}

export type Slot = SlotOf<DocumentText>

export type DraftWrite = Omit<DraftRow, 'id' | 'projectId' | 'versionId' | 'mergedAt'>

/** A text of the merged versions from number `validFrom` up to, but not including, `validTo`. */
export interface MergedText extends Omit<DocumentText, 'updatedBy'> {
  /** The author of the last change. Null for a text that an earlier release stored. */
  authorId: number | null
  validFrom: number
  validTo: number
}

export type MergedWrite = Omit<MergedText, 'id' | 'projectId' | 'mergedAt'>

export interface MergedReplacement {
  /** The edited row and its new end. The row is deleted if `end` is null. */
  old: { id: number; end: number | null } | null
  pieces: readonly MergedWrite[]
}

/** Writers must lock the project's row first (`ProjectStore.lock`). No method here takes that lock. */
export interface DocumentStore {
  /** Lists the version's texts by path in code point order. One statement overlays the draft on live. */
  list(workspaceId: number, set: VersionSet, prefix?: string): Promise<DocumentText[]>
  listByPaths(workspaceId: number, set: VersionSet, paths: readonly string[]): Promise<DocumentText[]>
  /** Like `listByPaths`, without the texts. */
  listUuids(
    workspaceId: number,
    set: VersionSet,
    paths: readonly string[],
  ): Promise<Pick<DocumentText, 'path' | 'documentUuid'>[]>
  /** Lists the texts at `paths` and all texts that contain `<prompt`. A change at `paths` cannot affect other texts. */
  listReferring(workspaceId: number, set: VersionSet, paths: readonly string[]): Promise<DocumentText[]>
  /** Lists the other texts that contain `<prompt` and the last name of the path. No other text can refer to the path. */
  listMentioning(
    workspaceId: number,
    set: VersionSet,
    path: string,
  ): Promise<Pick<DocumentText, 'path' | 'documentUuid' | 'content'>[]>
  /** Lists all paths at which the two versions differ. The list may also contain paths with equal texts. */
  listDifferingPaths(workspaceId: number, one: VersionSet, other: VersionSet): Promise<string[]>
  listPaths(workspaceId: number, set: VersionSet, limit: number): Promise<string[]>
  findOptional(workspaceId: number, set: VersionSet, path: string): Promise<DocumentText | null>
  /** True if any version of the project has or had the document. */
  knowsDocument(workspaceId: number, projectId: number, documentUuid: string): Promise<boolean>
  /** Lists the slots at the paths, in path order. Default: every path for which the draft has a row. */
  listSlots(workspaceId: number, draft: VersionSet, paths?: readonly string[]): Promise<Slot[]>
  /**
   * Lists the slots of all paths without texts, in path order, in one statement. For a merged version, `live` is that
   * version's text and `draft` is null.
   */
  listHeads(workspaceId: number, set: VersionSet): Promise<SlotOf<TextHead>[]>
  saveDraft(workspaceId: number, draft: VersionSet, writes: readonly DraftWrite[]): Promise<void>
  deleteDraft(workspaceId: number, draft: VersionSet, paths: readonly string[]): Promise<void>
  /** Ends live's rows at `paths`. Then the draft's rows, except soft deletes, become merged texts from `number` on. */
  publishDraft(workspaceId: number, draft: VersionSet, number: number, paths: readonly string[]): Promise<void>
  findMergedOptional(workspaceId: number, set: VersionSet, number: number, path: string): Promise<MergedText | null>
  replaceMerged(workspaceId: number, set: VersionSet, replacement: MergedReplacement): Promise<void>
  recordForcedEdit(workspaceId: number, set: VersionSet, edit: ForcedEdit): Promise<void>
}

export interface ForcedEdit {
  path: string
  authorId: number
  oldHash: string | null
  newHash: string
  at: Date
}
