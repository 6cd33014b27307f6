/** A project: a tree of prompts with its versions, one of which may be live. */
export interface Project {
  id: number
  workspaceId: number
  name: string
  defaultProvider: string | null
  defaultModel: string | null
  /** Null: the setting of the server counts. */
  retentionDays: number | null
  liveVersionId: number | null
  liveVersionUuid: string | null
  lastEditedAt: Date
  createdAt: Date
  updatedAt: Date
}
