import type {
  CreatedVersion as CreatedVersionBody,
  Project as ProjectBody,
  PushResult as PushBody,
  StatsSeries as SeriesBody,
  Stats as StatsBody,
  Version as VersionBody,
} from '@stet/contract/vocabulary'
import { NEW_DRAFT, type Project, type RecordedVersion } from '../features/projects/project.ts'
import type { CreatedProject } from '../features/projects/save-project.ts'
import type { Series, Stats } from '../features/stats/read-stats.ts'
import type { CreatedVersion } from '../features/versions/create-version.ts'
import type { PushResult } from '../features/versions/push/push-changes.ts'
import { personBody } from './api-key.ts'

export function projectBody(project: Project): ProjectBody {
  return {
    id: project.id,
    name: project.name,
    workspaceId: project.workspaceId,
    liveVersionUuid: project.liveVersionUuid,
    defaultProvider: project.defaultProvider,
    defaultModel: project.defaultModel,
    retentionDays: project.retentionDays,
    keepParameters: project.keepParameters,
    lastEditedAt: project.lastEditedAt.toISOString(),
    createdAt: project.createdAt.toISOString(),
    updatedAt: project.updatedAt.toISOString(),
    deletedAt: null,
  }
}

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

export function createdProjectBody({ project, version }: CreatedProject) {
  return { project: projectBody(project), version: versionBody({ ...version, ...NEW_DRAFT }) }
}

export function pushBody(result: PushResult): PushBody {
  return { commitUuid: result.versionUuid, ...result }
}

export function statsBody({ from, to, asOf, total, series, other, marks, ...rest }: Stats): StatsBody {
  return {
    ...{ from: from.toISOString(), to: to.toISOString(), asOf: asOf.toISOString(), ...rest },
    total: seriesBody(total),
    series: series.map(({ key, label, ...own }) => ({ key, label, ...seriesBody(own) })),
    other: other && seriesBody(other),
    marks: marks.map(({ at, ...mark }) => ({ at: at.toISOString(), ...mark })),
  }
}

function seriesBody({ figures, points }: Series): SeriesBody {
  return { figures, points: points.map(({ at, ...own }) => ({ at: at.toISOString(), ...own })) }
}
