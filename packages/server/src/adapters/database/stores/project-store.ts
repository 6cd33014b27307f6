import type { Prisma } from '../../../../generated/prisma/client.ts'
import { noGates, type Project, type ProjectStore, type StoredGates } from '../../../features/projects/project.ts'
import type { DatabaseClient } from '../database.ts'

const shown = {
  // Every run reads the project, and only publications read its gates.
  omit: { deletedAt: true, gates: true },
  include: { liveVersion: { select: { uuid: true } } },
} as const

export function postgresProjectStore(client: DatabaseClient): ProjectStore {
  const findOptional = async (workspaceId: number, id: number): Promise<Project | null> => {
    const row = await client.project.findFirst({ where: { workspaceId, id, deletedAt: null }, ...shown })
    return row && toProject(row)
  }
  return {
    async list(workspaceId, onlyId) {
      const rows = await client.project.findMany({
        where: { workspaceId, deletedAt: null, ...(onlyId != null && { id: onlyId }) },
        ...shown,
        orderBy: [{ lastEditedAt: 'desc' }, { id: 'desc' }],
      })
      return rows.map(toProject)
    },
    findOptional,
    async lock(workspaceId, id) {
      // Reads after the lock. A single statement that waited would join the live version from before the wait.
      await client.$queryRaw`SELECT id FROM project WHERE workspace_id = ${workspaceId} AND id = ${id} FOR UPDATE`
      return findOptional(workspaceId, id)
    },
    async create(workspaceId, { at, ...input }) {
      const data = { ...input, workspaceId, lastEditedAt: at, createdAt: at, updatedAt: at }
      return toProject({ ...(await client.project.create({ data, omit: shown.omit })), liveVersion: null })
    },
    async update(workspaceId, id, change, at) {
      await client.project.updateMany({ where: { workspaceId, id }, data: { ...change, updatedAt: at } })
      return findOptional(workspaceId, id)
    },
    async findGates(workspaceId, id) {
      const row = await client.project.findFirst({
        where: { workspaceId, id, deletedAt: null },
        select: { gates: true },
      })
      return row && ((row.gates as unknown as StoredGates | null) ?? noGates)
    },
    async saveGates(workspaceId, id, gates) {
      const stored = gates as unknown as Prisma.InputJsonObject
      await client.project.updateMany({ where: { workspaceId, id }, data: { gates: stored } })
    },
    async listDeleted() {
      const rows = await client.project.findMany({ where: { deletedAt: { not: null } }, select: { id: true } })
      return rows.map(({ id }) => id)
    },
    async hasActiveRuns(id) {
      const run = await client.run.findFirst({
        where: { endedAt: null, status: { in: ['queued', 'running'] }, conversation: { projectId: id } },
        select: { uuid: true },
      })
      return run !== null
    },
    async markDeleted(id) {
      // Erases the project's own texts. `deleted_at` uses the database clock, as in `removeProject`.
      const [project] = await client.$queryRaw<{ deletedAt: Date }[]>`
        UPDATE project SET deleted_at = now(), name = '', default_provider = NULL, default_model = NULL, gates = NULL
        WHERE id = ${id} RETURNING deleted_at AS "deletedAt"`
      const keys = await client.apiKey.updateManyAndReturn({
        where: { projectId: id, revokedAt: null },
        data: { revokedAt: project?.deletedAt ?? null },
        select: { hash: true },
      })
      return keys.map(({ hash }) => hash)
    },
    async touch(workspaceId, id, at) {
      await client.project.updateMany({ where: { workspaceId, id }, data: { lastEditedAt: at } })
    },
  }
}

function toProject({ liveVersion, ...row }: Prisma.ProjectGetPayload<typeof shown>): Project {
  return { ...row, liveVersionUuid: liveVersion?.uuid ?? null }
}
