/** What projects need from storage. */
import type { Project } from './project.ts'

export interface NewProject {
  name: string
  defaultProvider: string | null
  defaultModel: string | null
  retentionDays: number | null
  at: Date
}

export interface ProjectChange {
  name?: string
  defaultProvider?: string | null
  defaultModel?: string | null
  retentionDays?: number | null
}

export interface ProjectStore {
  /** Last edited first, then by falling id. */
  list(workspaceId: number): Promise<Project[]>
  findOptional(workspaceId: number, id: number): Promise<Project | null>
  /** Holds the project's row until the transaction ends, then reads it: whoever writes in a project does this first. */
  lock(workspaceId: number, id: number): Promise<Project | null>
  create(workspaceId: number, input: NewProject): Promise<Project>
  update(workspaceId: number, id: number, change: ProjectChange, at: Date): Promise<Project | null>
  /** Ids of deleted projects, of every workspace, that are not purged yet. */
  listDeleted(): Promise<number[]>
  /** Whether a stored run of the project is queued or running. */
  hasActiveRuns(id: number): Promise<boolean>
  /** Hides the project and revokes the keys restricted to it; returns their hashes. */
  markDeleted(id: number): Promise<string[]>
  /** Notes that a version or a document of the project changed. */
  touch(workspaceId: number, id: number, at: Date): Promise<void>
}
