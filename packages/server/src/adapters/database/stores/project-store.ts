/** Projects in the database. */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { ProjectStore } from '../../../features/projects/ports.ts'
import type { Project } from '../../../features/projects/project.ts'
import type { DatabaseClient } from '../database.ts'

const shown = Prisma.sql`
  SELECT p.id, p.workspace_id AS "workspaceId", p.name, p.default_provider AS "defaultProvider",
         p.default_model AS "defaultModel", p.retention_days AS "retentionDays", p.live_version_id AS "liveVersionId", v.uuid::text AS "liveVersionUuid",
         p.last_edited_at AS "lastEditedAt", p.created_at AS "createdAt", p.updated_at AS "updatedAt"
  FROM project p LEFT JOIN version v ON v.id = p.live_version_id`

export function postgresProjectStore(client: DatabaseClient): ProjectStore {
  const findOptional = async (workspaceId: number, id: number): Promise<Project | null> => {
    const [project] = await client.$queryRaw<Project[]>`${shown}
      WHERE p.workspace_id = ${workspaceId} AND p.id = ${id} AND p.deleted_at IS NULL`
    return project ?? null
  }
  return {
    list: (workspaceId) =>
      client.$queryRaw<
        Project[]
      >`${shown} WHERE p.workspace_id = ${workspaceId} AND p.deleted_at IS NULL ORDER BY p.last_edited_at DESC, p.id DESC`,
    findOptional,
    async lock(workspaceId, id) {
      // Read by a statement of its own: one that had to wait for the lock would join the version as it was before.
      await client.$queryRaw`SELECT id FROM project WHERE workspace_id = ${workspaceId} AND id = ${id} FOR UPDATE`
      return findOptional(workspaceId, id)
    },
    async create(workspaceId, { at, ...input }) {
      const project = await client.project.create({
        data: { ...input, workspaceId, lastEditedAt: at, createdAt: at, updatedAt: at },
      })
      const { deletedAt: _deletedAt, ...shownFields } = project
      return { ...shownFields, liveVersionUuid: null }
    },
    async update(workspaceId, id, change, at) {
      await client.project.updateMany({ where: { workspaceId, id }, data: { ...change, updatedAt: at } })
      return findOptional(workspaceId, id)
    },
    async listDeleted() {
      const rows = await client.project.findMany({ where: { deletedAt: { not: null } }, select: { id: true } })
      return rows.map(({ id }) => id)
    },
    async hasActiveRuns(id) {
      const rows = await client.$queryRaw<unknown[]>`
        SELECT 1 FROM run r JOIN conversation c ON c.uuid = r.conversation_uuid
        WHERE r.ended_at IS NULL AND r.status IN ('queued', 'running') AND c.project_id = ${id} LIMIT 1`
      return rows.length > 0
    },
    async markDeleted(id) {
      // The project's own texts are removed at once, its rows in batches.
      await client.$executeRaw`
        UPDATE project SET deleted_at = now(), name = '', default_provider = NULL, default_model = NULL WHERE id = ${id}`
      const keys = await client.$queryRaw<{ hash: string }[]>`
        UPDATE api_key SET revoked_at = coalesce(revoked_at, now()) WHERE project_id = ${id} RETURNING hash`
      return keys.map(({ hash }) => hash)
    },
    async touch(workspaceId, id, at) {
      await client.$executeRaw`
        UPDATE project SET last_edited_at = ${at} WHERE workspace_id = ${workspaceId} AND id = ${id}`
    },
  }
}
