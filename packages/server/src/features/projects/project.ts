/** A project: a tree of prompts with its versions, one of which may be live. */
export interface Project {
  id: number
  workspaceId: number
  name: string
  defaultProvider: string | null
  defaultModel: string | null
  liveVersionId: number | null
  liveVersionUuid: string | null
  lastEditedAt: Date
  createdAt: Date
  updatedAt: Date
}
