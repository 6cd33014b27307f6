import type { Version } from './versions.ts'

/** `defaultProvider` applies to prompts that name no provider, and `defaultModel` to prompts that name no model. */
export interface Project {
  id: number
  name: string
  workspaceId: number
  /** The published version. Null before the first publication. */
  liveVersionUuid: string | null
  defaultProvider: string | null
  defaultModel: string | null
  /** Ended conversations are deleted after this many days. Null applies the server's setting. */
  retentionDays: number | null
  lastEditedAt: string
  createdAt: string
  updatedAt: string
  deletedAt: null
}

/** @example { name: 'Support', defaultProvider: 'openai', defaultModel: 'gpt-6-luna', retentionDays: 90 } */
export interface CreateProjectBody {
  name: string
  defaultProvider?: string
  defaultModel?: string
  /** Default: the server's setting. */
  retentionDays?: number
}

/**
 * Changes a project. Absent fields stay unchanged.
 * @example { defaultModel: '' } // clears the default
 */
export interface UpdateProjectBody {
  name?: string
  defaultProvider?: string
  defaultModel?: string
  /** Null restores the server's setting. */
  retentionDays?: number | null
}

/**
 * Confirms a deletion by the project's name, so that a mistyped id deletes nothing.
 * @example { name: 'Support' }
 */
export interface DeleteProjectBody {
  name: string
}

export interface DeletedProject {
  id: number
}

/** @example const { project, version } = created // version.status is 'draft' */
export interface CreatedProject {
  project: Project
  version: Version
}
