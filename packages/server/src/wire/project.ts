import type {
  GateSettings,
  Project as ProjectBody,
  StatsSeries as SeriesBody,
  Stats as StatsBody,
} from '@stet/contract/vocabulary'
import { newDraft, type Project, type StoredGates } from '../features/projects/project.ts'
import type { CreatedProject } from '../features/projects/save-project.ts'
import type { Series, Stats } from '../features/stats/read-stats.ts'
import { versionBody } from './version.ts'

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

export function gatesBody({ mode, gates }: StoredGates): GateSettings {
  return { mode, gates: gates.map((gate) => ({ ...gate })) }
}

export function createdProjectBody({ project, version }: CreatedProject) {
  return { project: projectBody(project), version: versionBody({ ...version, ...newDraft }) }
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
