import type { GateMode, GateVerdict, VersionStatus } from '@stet/contract/vocabulary'
import type { TextHead } from '../documents/document.ts'
import type { SlotOf, VersionSet } from '../documents/ports.ts'
import type { Version, VersionRecord } from '../projects/project.ts'
import type { ReleasedVersion } from '../projects/release.ts'
import type { EvaluationOwner } from '../templates/template-engine.ts'

type NewVersion = Pick<Version, 'title' | 'parentVersionUuid'> & { authorId: number; at: Date }
export type Publication = Pick<Version, 'title' | 'description'> & {
  number: number
  at: Date
  /** The id of the author. Null for an import, whose publisher is unknown. */
  publishedBy: number | null
  /** The version that the publication replaced. Null if nothing was live. */
  base: Pick<Version, 'id' | 'revision'> | null
}

export type NewMergedVersion = NewVersion &
  Pick<Publication, 'description'> & { base: Pick<Version, 'id' | 'revision'> }

export type VersionChange = Partial<
  Pick<Version, 'uuid' | 'title' | 'description' | 'createdAt' | 'deletedAt'> & { authorId: number }
>

export interface VersionFilter {
  status?: VersionStatus | undefined
  /** Also lists the drafts that were deleted after this time. */
  deletedAfter?: Date | undefined
}

/** Stores versions. After a rollback, the highest number need not be live. Writers must lock the project's row first (`ProjectStore.lock`). No method here takes that lock. */
export interface VersionStore {
  /** Lists drafts first, newest first. Merged versions follow by descending number. */
  list(workspaceId: number, projectId: number, filter?: VersionFilter): Promise<Version[]>
  findOptional(workspaceId: number, projectId: number, uuid: string): Promise<Version | null>
  findDeletedOptional(workspaceId: number, projectId: number, uuid: string): Promise<Version | null>
  /** Returns the newest draft with exactly this title. */
  findDraftOptional(workspaceId: number, projectId: number, title: string): Promise<Version | null>
  findLiveOptional(workspaceId: number, projectId: number): Promise<Version | null>
  /** Returns the version with the highest number. */
  findHeadOptional(workspaceId: number, projectId: number): Promise<Version | null>
  findNumberOptional(workspaceId: number, projectId: number, number: number): Promise<Version | null>
  /** Returns the records by version id. One statement for all versions. */
  listRecords(
    workspaceId: number,
    projectId: number,
    versions: readonly Pick<Version, 'id' | 'number'>[],
  ): Promise<Map<number, VersionRecord>>
  create(workspaceId: number, projectId: number, input: NewVersion): Promise<Version>
  /** Creates a merged version under the next number, which is not live yet. Its texts follow by `DocumentStore.copySet`. */
  createMerged(workspaceId: number, projectId: number, input: NewMergedVersion): Promise<ReleasedVersion>
  /** Gives a draft its number and makes it live. */
  publish(workspaceId: number, projectId: number, id: number, publication: Publication): Promise<Version>
  /** Makes a merged version live again. */
  serve(workspaceId: number, projectId: number, id: number, at: Date): Promise<void>
  /**
   * Returns whether no version on the server has the uuid. A version of a deleted project that is not purged yet, and a
   * deleted draft of the given project, get a new uuid first.
   */
  freeUuid(projectId: number, uuid: string): Promise<boolean>
  update(workspaceId: number, projectId: number, id: number, change: VersionChange): Promise<Version>
  touch(workspaceId: number, projectId: number, id: number, at: Date): Promise<void>
}

/** A draft as a publication would make it live. */
export interface GatedDraft {
  owner: EvaluationOwner
  projectId: number
  set: VersionSet
  slots: readonly SlotOf<TextHead>[]
  /** The texts that are written over those of `set`. Null: no prompt. */
  written: ReadonlyMap<string, (Pick<TextHead, 'path' | 'documentUuid' | 'contentHash'> & { content: string }) | null>
}

export interface GateResult {
  mode: GateMode
  /** One for each prompt whose text or settings the draft changes, and each gate that applies to it. */
  verdicts: GateVerdict[]
  /** The live version and revision that the draft was compared with. Null if nothing is live. */
  live: Pick<Version, 'uuid' | 'revision'> | null
}

/** What the gates of a project say about a draft. */
export interface GateVerdicts {
  read(draft: GatedDraft): Promise<GateResult>
}
