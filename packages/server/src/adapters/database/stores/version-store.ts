/** Versions in the database. */
import { randomUUID } from 'node:crypto'
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { Version } from '../../../features/documents/document.ts'
import type { VersionStore } from '../../../features/versions/ports.ts'
import { notFound } from '../../../shared/app-error.ts'
import type { DatabaseClient } from '../database.ts'

type VersionRow = Omit<Version, 'author'> & { authorId: number; authorName: string; authorEmail: string }

const columns = Prisma.sql`
  v.id, v.uuid::text AS uuid, v.project_id AS "projectId", v.title, v.description, v.number,
  v.parent_version_uuid::text AS "parentVersionUuid", v.merged_at AS "mergedAt",
  v.created_at AS "createdAt", v.updated_at AS "updatedAt", coalesce(v.id = p.live_version_id, false) AS "isLive",
  a.id AS "authorId", a.name AS "authorName", a.email AS "authorEmail"`

const shown = Prisma.sql`
  SELECT ${columns} FROM version v JOIN project p ON p.id = v.project_id JOIN author a ON a.id = v.author_id`

export function postgresVersionStore(client: DatabaseClient): VersionStore {
  const query = async (workspaceId: number, projectId: number, rest: Prisma.Sql): Promise<Version[]> => {
    const rows = await client.$queryRaw<VersionRow[]>`
      ${shown} WHERE p.workspace_id = ${workspaceId} AND v.project_id = ${projectId} ${rest}`
    return rows.map(toVersion)
  }
  const first = async (workspaceId: number, projectId: number, rest: Prisma.Sql) =>
    (await query(workspaceId, projectId, rest))[0] ?? null
  const find = async (workspaceId: number, projectId: number, id: number) => {
    const version = await first(workspaceId, projectId, Prisma.sql`AND v.id = ${id}`)
    if (!version) throw notFound('Version not found')
    return version
  }
  return {
    list(workspaceId, projectId, status) {
      const wanted = { draft: Prisma.sql`AND v.number IS NULL`, merged: Prisma.sql`AND v.number IS NOT NULL` }
      const filter = status ? wanted[status] : Prisma.empty
      const order = Prisma.sql`ORDER BY v.number DESC NULLS FIRST, v.created_at DESC, v.id DESC`
      return query(workspaceId, projectId, Prisma.sql`${filter} ${order}`)
    },
    findOptional: (workspaceId, projectId, uuid) =>
      first(workspaceId, projectId, Prisma.sql`AND v.uuid = ${uuid}::uuid`),
    findLiveOptional: (workspaceId, projectId) =>
      first(workspaceId, projectId, Prisma.sql`AND v.id = p.live_version_id`),
    findNumberOptional: (workspaceId, projectId, number) =>
      first(workspaceId, projectId, Prisma.sql`AND v.number = ${number}`),
    async create(workspaceId, projectId, input) {
      const [created] = await client.$queryRaw<{ id: number }[]>`
        INSERT INTO version (uuid, project_id, author_id, title, parent_version_uuid, created_at, updated_at)
        SELECT ${randomUUID()}::uuid, p.id, ${input.authorId}, ${input.title}, ${input.parentVersionUuid}::uuid,
               ${input.at}, ${input.at}
        FROM project p WHERE p.workspace_id = ${workspaceId} AND p.id = ${projectId}
        RETURNING id`
      if (!created) throw notFound('Project not found')
      return find(workspaceId, projectId, created.id)
    },
    async publish(workspaceId, projectId, id, { number, title, description, at }) {
      // The database refuses a second publication of a draft and a number given twice, whatever the caller believes.
      const published = await client.$executeRaw`
        UPDATE version SET number = ${number}, title = ${title}, description = ${description}, merged_at = ${at}, updated_at = ${at}
        WHERE id = ${id} AND project_id = ${projectId} AND number IS NULL`
      if (published !== 1) throw new Error('Only a draft can be published')
      await client.$executeRaw`
        UPDATE project SET live_version_id = ${id} WHERE workspace_id = ${workspaceId} AND id = ${projectId}`
      return find(workspaceId, projectId, id)
    },
    async touch(workspaceId, projectId, id, at) {
      await client.$executeRaw`
        UPDATE version v SET updated_at = ${at} FROM project p
        WHERE p.id = v.project_id AND p.workspace_id = ${workspaceId} AND v.project_id = ${projectId} AND v.id = ${id}`
    },
  }
}

function toVersion({ authorId, authorName, authorEmail, ...version }: VersionRow): Version {
  return { ...version, author: { id: authorId, name: authorName, email: authorEmail } }
}
