/** Ports of versions. The live version of a project is the one with the highest number. */

import type { VersionStatus } from '@stet/contract/vocabulary'
import type { Version } from '../projects/project.ts'

export interface NewVersion {
  title: string
  authorId: number
  parentVersionUuid: string | null
  at: Date
}

export interface Publication {
  number: number
  title: string
  description: string | null
  at: Date
}

/** Writers hold the project's row lock (`ProjectStore.lock`); no method here takes it. */
export interface VersionStore {
  /** Drafts first, newest first; then merged ones by falling number. */
  list(workspaceId: number, projectId: number, status?: VersionStatus): Promise<Version[]>
  findOptional(workspaceId: number, projectId: number, uuid: string): Promise<Version | null>
  findLiveOptional(workspaceId: number, projectId: number): Promise<Version | null>
  findNumberOptional(workspaceId: number, projectId: number, number: number): Promise<Version | null>
  create(workspaceId: number, projectId: number, input: NewVersion): Promise<Version>
  /** Merges a draft and moves the live pointer to it. */
  publish(workspaceId: number, projectId: number, id: number, publication: Publication): Promise<Version>
  /** Records that something in the version changed. */
  touch(workspaceId: number, projectId: number, id: number, at: Date): Promise<void>
}
