import type { Version as VersionBody } from '@stet/contract'
import type { Version } from '../../features/projects/project.ts'
import { optionalTimestamp, timestamp } from './timestamp.ts'

export function versionBody(version: Version): VersionBody {
  return {
    id: version.id,
    uuid: version.uuid,
    projectId: version.projectId,
    message: version.title,
    title: version.title,
    description: version.description,
    authorId: version.author.id,
    authorName: version.author.name,
    authorEmail: version.author.email,
    userId: String(version.author.id),
    status: version.number === null ? 'draft' : 'merged',
    version: version.number,
    parentCommitUuid: version.parentVersionUuid,
    mergedAt: optionalTimestamp(version.mergedAt),
    deletedAt: null,
    mainDocumentUuid: null,
    isLive: version.isLive,
    createdAt: timestamp(version.createdAt),
    updatedAt: timestamp(version.updatedAt),
  }
}
