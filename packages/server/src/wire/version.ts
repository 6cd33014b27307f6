import type {
  CreatedVersion as CreatedVersionBody,
  Environment as EnvironmentBody,
  PushResult as PushBody,
  Release as ReleaseBody,
  ReleasedVersion as ReleasedBody,
  RollbackResult,
  Version as VersionBody,
} from '@stet/contract/vocabulary'
import type { RecordedVersion } from '../features/projects/project.ts'
import type { Release, ReleasedVersion } from '../features/projects/release.ts'
import type { RolledBack } from '../features/releases/roll-back.ts'
import type { CreatedVersion } from '../features/versions/create-version.ts'
import type { PushResult } from '../features/versions/push/push-changes.ts'
import { personBody } from './api-key.ts'

export function versionBody(version: RecordedVersion): VersionBody {
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
    mergedAt: version.mergedAt?.toISOString() ?? null,
    deletedAt: version.deletedAt?.toISOString() ?? null,
    mainDocumentUuid: null,
    isLive: version.isLive,
    createdAt: version.createdAt.toISOString(),
    updatedAt: version.updatedAt.toISOString(),
    publishedBy: version.publishedBy && personBody(version.publishedBy),
    changeCount: version.changeCount,
    forcedEdits: version.forcedEdits.map(({ revision, path, author, oldHash, newHash, createdAt }) => {
      return { revision, path, author: personBody(author), oldHash, newHash, createdAt: createdAt.toISOString() }
    }),
    revision: version.revision,
    baseVersionUuid: version.baseVersionUuid,
    baseRevision: version.baseRevision,
  }
}

export function createdVersionBody({ brokenReferences, merged, ...version }: CreatedVersion): CreatedVersionBody {
  return { ...versionBody(version), ...(brokenReferences && { brokenReferences }), ...(merged && { merged }) }
}

export function pushBody(result: PushResult): PushBody {
  return { commitUuid: result.versionUuid, ...result }
}

export function releaseBody(release: Release): ReleaseBody {
  return {
    uuid: release.uuid,
    environment: 'live',
    seq: release.seq,
    kind: release.kind,
    version: releasedBody(release.version),
    from: release.from && releasedBody(release.from),
    returnsTo: release.returnsTo,
    author: personBody(release.author),
    reason: release.reason,
    overrides: release.overrides.map(({ path, verdict, code, message, experimentUuid }) => {
      return { check: 'gate', path, verdict, code, message, experimentUuid }
    }),
    createdAt: release.createdAt.toISOString(),
  }
}

export function rollbackBody({ release, ...rest }: RolledBack): RollbackResult {
  return { environment: environmentBody(rest), release: release && releaseBody(release) }
}

function environmentBody({ latest, next }: Omit<RolledBack, 'release'>): EnvironmentBody {
  return {
    name: 'live',
    version: releasedBody(latest.version),
    seq: latest.seq,
    rollback: next && { seq: next.seq, version: releasedBody(next.version) },
  }
}

function releasedBody({ uuid, number, revision, title }: ReleasedVersion): ReleasedBody {
  return { uuid, number, revision, title }
}
