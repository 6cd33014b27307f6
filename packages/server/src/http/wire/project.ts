import type { Project as ProjectBody } from '@stet/contract'
import type { Project } from '../../features/projects/project.ts'
import { timestamp } from './timestamp.ts'

export function projectBody(project: Project): ProjectBody {
  return {
    id: project.id,
    name: project.name,
    workspaceId: project.workspaceId,
    liveVersionUuid: project.liveVersionUuid,
    defaultProvider: project.defaultProvider,
    defaultModel: project.defaultModel,
    retentionDays: project.retentionDays,
    lastEditedAt: timestamp(project.lastEditedAt),
    createdAt: timestamp(project.createdAt),
    updatedAt: timestamp(project.updatedAt),
    deletedAt: null,
  }
}
