import type { Version } from './versions.ts'

/** A project: prompts, their versions, and defaults for prompts that name no model. */
export interface Project {
  id: number
  name: string
  workspaceId: number
  /** The published version; `null` before the first publication. */
  liveVersionUuid: string | null
  defaultProvider: string | null
  defaultModel: string | null
  /** Days after which ended conversations are deleted; null: the server's setting applies. */
  retentionDays: number | null
  lastEditedAt: string
  createdAt: string
  updatedAt: string
  deletedAt: null
}

/** @example { name: 'Support', defaultProvider: 'openai', defaultModel: 'gpt-4o-mini', retentionDays: 90 } */
export interface CreateProjectBody {
  name: string
  defaultProvider?: string
  defaultModel?: string
  /** Default: the server's setting. */
  retentionDays?: number
}

/**
 * The body that changes a project; absent fields stay unchanged.
 *
 * @example { defaultModel: '' } // clears the default
 */
export interface UpdateProjectBody {
  name?: string
  defaultProvider?: string
  defaultModel?: string
  /** null: the server's setting applies again. */
  retentionDays?: number | null
}

/**
 * The body that deletes a project: its name, so that a mistyped id deletes nothing.
 *
 * @example { name: 'Support' }
 */
export interface DeleteProjectBody {
  name: string
}

export interface DeletedProject {
  id: number
}

/**
 * A new project and its first draft.
 *
 * @example const { project, version } = created // version.status is 'draft'
 */
export interface CreatedProject {
  project: Project
  version: Version
}
