import type { Gate, GateSettings } from '@stet/contract/vocabulary'
import type { Author } from '../../shared/caller.ts'

export interface Project {
  id: number
  workspaceId: number
  name: string
  defaultProvider: string | null
  defaultModel: string | null
  /** If null, the server's setting applies. */
  retentionDays: number | null
  /** If null, the server's setting applies. */
  keepParameters: boolean | null
  liveVersionId: number | null
  liveVersionUuid: string | null
  lastEditedAt: Date
  createdAt: Date
  updatedAt: Date
}

/** An editable draft over live (`number` is null), or a numbered set of merged prompts. */
export interface Version {
  id: number
  uuid: string
  projectId: number
  title: string
  description: string | null
  author: Author
  number: number | null
  parentVersionUuid: string | null
  /** The number of the forced edits so far. */
  revision: number
  /** The version and revision whose set the publication changed. Null for a draft, and if nothing was live. */
  baseVersionUuid: string | null
  baseRevision: number | null
  isLive: boolean
  mergedAt: Date | null
  createdAt: Date
  updatedAt: Date
  /** Set if the address named a revision: the texts are those of this revision, also after later edits. */
  asOf?: number
  /** Set for a deleted draft, which only a list with `deleted` and its restoration find. */
  deletedAt: Date | null
}

/** A deleted draft can be restored for this time. Then its rows are purged. */
export const restorableDays = 30

export function restorableSince(now: Date): Date {
  return new Date(now.getTime() - restorableDays * 86_400_000)
}

/** An edit of a merged version in place, by `force`. */
export interface ForcedEdit {
  /** The revision that the edit made. */
  revision: number
  path: string
  author: Author
  oldHash: string | null
  newHash: string
  createdAt: Date
}

/** Details that only version responses show. Reading them costs one statement, so other requests skip it. */
export interface VersionRecord {
  publishedBy: Author | null
  changeCount: number
  forcedEdits: ForcedEdit[]
}

export interface RecordedVersion extends Version, VersionRecord {}

export const newDraft: VersionRecord = { publishedBy: null, changeCount: 0, forcedEdits: [] }

type ProjectSettings = Pick<Project, 'name' | 'defaultProvider' | 'defaultModel' | 'retentionDays'>
export type NewProject = ProjectSettings & { at: Date }
export type ProjectChange = Partial<ProjectSettings & Pick<Project, 'keepParameters'>>

export interface ProjectStore {
  /** Lists by last edit, newest first. @param onlyId the project to which the caller's key is restricted, if any. */
  list(workspaceId: number, onlyId?: number | null): Promise<Project[]>
  findOptional(workspaceId: number, id: number): Promise<Project | null>
  /** Locks and returns the project's row. The lock ends with the transaction. Document and version writes need it. */
  lock(workspaceId: number, id: number): Promise<Project | null>
  create(workspaceId: number, input: NewProject): Promise<Project>
  update(workspaceId: number, id: number, change: ProjectChange, at: Date): Promise<Project | null>
  /** Returns null for an unknown project. */
  findGates(workspaceId: number, id: number): Promise<StoredGates | null>
  saveGates(workspaceId: number, id: number, gates: StoredGates): Promise<void>
  /** Lists the ids of deleted projects that are not yet purged, in all workspaces. */
  listDeleted(): Promise<number[]>
  hasActiveRuns(id: number): Promise<boolean>
  /** Hides the project and revokes the keys that are restricted to this project. Returns the keys' hashes. */
  markDeleted(id: number): Promise<string[]>
  touch(workspaceId: number, id: number, at: Date): Promise<void>
}

/** What a publication asks of the experiments of the project, with all defaults. */
export type StoredGate = Gate & Required<Pick<Gate, 'minRows' | 'maxUnscored' | 'labels'>>

export interface StoredGates extends GateSettings {
  gates: StoredGate[]
}

export const noGates: StoredGates = { mode: 'warn', gates: [] }
