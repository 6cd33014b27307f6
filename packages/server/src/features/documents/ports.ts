import type { Version } from '../projects/project.ts'
import type { DocumentText, TextHead } from './document.ts'

/** Identifies a version's texts: a draft over live (`number` is null), or a numbered merged set, perhaps as of a revision. */
export type VersionSet = Pick<Version, 'id' | 'projectId' | 'number' | 'asOf'>

interface DraftState {
  /** The hash of live's text at the draft's first change or last merge. Null if live had no document. */
  baseHash: string | null
  deletedAt: Date | null
  /**
   * The path in live from which the draft moved the prompt. Null if live has it at the same path, or not at all. A deleted
   * prompt keeps it.
   */
  movedFrom: string | null
}

/** A draft's own row at one path: an edit, an addition, or (with `deletedAt`) a soft delete. */
export interface DraftRow extends DocumentText, DraftState {}

/** One path in a draft and in live. All rules about changes use slots. */
export interface SlotOf<Text> {
  path: string
  draft: (Text & DraftState) | null
  live: Text | null
  /** Where the draft shows live's prompt of this path, and with which text. Null if the draft does not move the prompt. */
  movedTo: { path: string; contentHash: string } | null
  /** True if the draft's row is deleted, but the draft shows its prompt at another path. Only `listSlots` finds this. */
  isElsewhere?: boolean | undefined
}

export type Slot = SlotOf<DocumentText>

export type DraftWrite = Omit<DraftRow, 'id' | 'projectId' | 'versionId' | 'mergedAt'>

/** A slot whose draft row may not be stored yet. */
export interface PlannedSlot extends Omit<Slot, 'draft'> {
  draft: DraftWrite | null
}

/** A text of the merged versions from number `validFrom` up to, but not including, `validTo`. */
export interface MergedText extends Omit<DocumentText, 'updatedBy' | 'movedFrom'> {
  /** The author of the last change. Null if that author was deleted. */
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

/** All given conditions apply. Without conditions, all texts of the version match. */
export interface TextFilter {
  prefix?: string | undefined
  paths?: readonly string[] | undefined
  /** Also matches all texts that contain `<prompt`, at any path. A change at `paths` cannot affect other texts. */
  orReferring?: boolean
  /** Matches the other texts that contain `<prompt` and the last name of this path. No other text can refer to it. */
  mentions?: string
  /** Matches the paths after this one in code point order. */
  after?: string | undefined
  limit?: number | undefined
}

/** `content` is null beyond the first megabyte of a list. `DocumentStore.listByPaths` reads it. */
export interface ListedText extends Omit<DocumentText, 'content'> {
  content: string | null
  bytes: number
}

/** Writers must lock the project's row first (`ProjectStore.lock`). No method here takes that lock. */
export interface DocumentStore {
  /** Lists the version's texts by path in code point order. One statement overlays the draft on live. */
  list(workspaceId: number, set: VersionSet, filter: TextFilter): Promise<ListedText[]>
  listByPaths(workspaceId: number, set: VersionSet, paths: readonly string[]): Promise<DocumentText[]>
  /** Like `listByPaths`, without the texts. */
  listNames(
    workspaceId: number,
    set: VersionSet,
    paths: readonly string[],
  ): Promise<Pick<DocumentText, 'path' | 'documentUuid' | 'contentHash'>[]>
  /** Lists all paths at which the two versions differ. The list may also contain paths with equal texts. */
  listDifferingPaths(workspaceId: number, one: VersionSet, other: VersionSet): Promise<string[]>
  /** Lists the first paths, in code point order. */
  listPaths(workspaceId: number, set: VersionSet, limit: number): Promise<string[]>
  findOptional(workspaceId: number, set: VersionSet, path: string): Promise<DocumentText | null>
  /** Returns the text with this hash that any version, earlier revision or draft has at the path. */
  findContentOptional(workspaceId: number, projectId: number, path: string, contentHash: string): Promise<string | null>
  /** True if any version of the project has or had the document. */
  knowsDocument(workspaceId: number, projectId: number, documentUuid: string): Promise<boolean>
  /** Lists the slots at the paths, in path order. Default: every path for which the draft has a row. */
  listSlots(workspaceId: number, draft: VersionSet, paths?: readonly string[]): Promise<Slot[]>
  /** Lists the slots of every path for which the draft has a row, without texts. */
  listSlotHeads(workspaceId: number, draft: VersionSet): Promise<SlotOf<TextHead>[]>
  /**
   * Lists the slots of all paths without texts, in path order, in one statement. For a merged version, `live` is that
   * version's text and `draft` is null.
   */
  listHeads(workspaceId: number, set: VersionSet): Promise<SlotOf<TextHead>[]>
  saveDraft(workspaceId: number, draft: VersionSet, writes: readonly DraftWrite[]): Promise<void>
  deleteDraft(workspaceId: number, draft: VersionSet, paths: readonly string[]): Promise<void>
  /**
   * The draft's rows, except soft deletes, become merged texts from `number` on, and end the rows of the number before at
   * `paths`. All other paths keep the texts of the number before. A row gets the uuid of live's prompt at its path, unless
   * the draft moves one of both.
   */
  publishDraft(workspaceId: number, draft: VersionSet, number: number, paths: readonly string[]): Promise<void>
  /** Makes the texts of `set` those of the new `number`, except at the paths, which have none then. */
  copySet(workspaceId: number, set: VersionSet, number: number, exceptPaths: readonly string[]): Promise<void>
  findMergedOptional(workspaceId: number, set: VersionSet, number: number, path: string): Promise<MergedText | null>
  replaceMerged(workspaceId: number, set: VersionSet, replacement: MergedReplacement): Promise<void>
  /** Stores the edit and sets the version's revision to the one that the edit made. */
  recordForcedEdit(workspaceId: number, set: VersionSet, edit: ForcedEdit): Promise<void>
}

export interface ForcedEdit {
  revision: number
  /** Null if the edit added the prompt. */
  old: Pick<MergedText, 'content' | 'contentHash' | 'authorId' | 'updatedAt'> | null
  text: Pick<DocumentText, 'path' | 'documentUuid' | 'content' | 'contentHash'>
  authorId: number
  at: Date
}
