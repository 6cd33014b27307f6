import { randomUUID } from 'node:crypto'
import { Prisma } from '../../../../generated/prisma/client.ts'
import { openEnd } from '../../../features/documents/overlay.ts'
import type { ForcedEdit, Version, VersionRecord } from '../../../features/projects/project.ts'
import type { VersionStore } from '../../../features/versions/ports.ts'
import { refuse } from '../../../shared/app-error.ts'
import type { DatabaseClient } from '../database.ts'
import { withAuthor } from './api-key-store.ts'

const shown = { ...withAuthor, liveOf: { select: { id: true } } } as const satisfies Prisma.VersionInclude

const newestFirst = [{ createdAt: 'desc' }, { id: 'desc' }] satisfies Prisma.VersionOrderByWithRelationInput[]

export function postgresVersionStore(client: DatabaseClient): VersionStore {
  const inProject = (workspaceId: number, projectId: number) => ({ projectId, project: { workspaceId } })
  const findFirst = async (where: Prisma.VersionWhereInput, orderBy?: typeof newestFirst) => {
    const row = await client.version.findFirst({ where, include: shown, ...(orderBy && { orderBy }) })
    return row && toVersion(row)
  }
  return {
    async list(workspaceId, projectId, { status, deletedAfter } = {}) {
      const number = { draft: { equals: null }, merged: { not: null } }
      const rows = await client.version.findMany({
        where: {
          ...inProject(workspaceId, projectId),
          ...(status && { number: number[status] }),
          OR: [{ deletedAt: null }, ...(deletedAfter ? [{ deletedAt: { gt: deletedAfter } }] : [])],
        },
        include: shown,
        orderBy: [{ number: { sort: 'desc', nulls: 'first' } }, ...newestFirst],
      })
      return rows.map(toVersion)
    },
    findOptional: (workspaceId, projectId, uuid) =>
      findFirst({ ...inProject(workspaceId, projectId), uuid, deletedAt: null }),
    findDeletedOptional: (workspaceId, projectId, uuid) =>
      findFirst({ ...inProject(workspaceId, projectId), uuid, deletedAt: { not: null } }),
    findDraftOptional: (workspaceId, projectId, title) =>
      findFirst({ ...inProject(workspaceId, projectId), title, number: null, deletedAt: null }, newestFirst),
    findLiveOptional: (workspaceId, projectId) => findFirst({ liveOf: { id: projectId, workspaceId } }),
    findNumberOptional: (workspaceId, projectId, number) => findFirst({ ...inProject(workspaceId, projectId), number }),
    listRecords: listRecords(client),
    async create(workspaceId, projectId, { title, authorId, parentVersionUuid, at }) {
      const row = await client.version.create({
        data: {
          uuid: randomUUID(),
          title,
          parentVersionUuid,
          createdAt: at,
          updatedAt: at,
          project: { connect: { id: projectId, workspaceId } },
          author: { connect: { id: authorId } },
        },
        include: shown,
      })
      return toVersion(row)
    },
    async publish(workspaceId, projectId, id, { number, title, description, at, publishedBy }) {
      // `number: null` matches only a draft. A unique constraint rejects a used number.
      const { count } = await client.version.updateMany({
        where: { ...inProject(workspaceId, projectId), id, number: null },
        data: { number, title, description, publishedBy, mergedAt: at, updatedAt: at },
      })
      if (count !== 1) throw new Error('Only a draft can be published')
      await client.project.updateMany({ where: { id: projectId, workspaceId }, data: { liveVersionId: id } })
      const version = await findFirst({ id })
      if (!version) throw refuse('unknown-version')
      return version
    },
    async freeUuid(uuid) {
      const version = await client.version.findUnique({
        where: { uuid },
        select: { id: true, project: { select: { deletedAt: true } } },
      })
      if (version === null) return true
      if (version.project.deletedAt === null) return false
      await client.version.updateMany({ where: { id: version.id }, data: { uuid: randomUUID() } })
      return true
    },
    async update(workspaceId, projectId, id, change) {
      const where = { ...inProject(workspaceId, projectId), id }
      await client.version.updateMany({ where, data: change })
      const version = await findFirst(where)
      if (!version) throw refuse('unknown-version')
      return version
    },
    async touch(workspaceId, projectId, id, at) {
      const where = { ...inProject(workspaceId, projectId), id }
      await client.version.updateMany({ where, data: { updatedAt: at } })
    },
  }
}

/** The draft's rows that differ from live. */
const draftChanges = (ids: readonly number[]) => Prisma.sql`
  SELECT d.version_id AS id, count(*) FROM document d
  WHERE d.version_id = ANY(${ids}::int[]) AND d.valid_from = 0
    AND CASE WHEN d.deleted_at IS NULL THEN d.content_hash END IS DISTINCT FROM
      (SELECT l.content_hash FROM document l WHERE l.project_id = d.project_id AND l.path = d.path AND l.valid_to = ${openEnd})
  GROUP BY d.version_id`

/**
 * Per number, the paths at which a text begins or ends, unless one text replaces an equal one. The given numbers limit
 * what is read: compared with a column instead, they may make the planner read every text of the project.
 */
const mergedChanges = (projectId: number, numbers: readonly number[]) => Prisma.sql`
  SELECT c.number, count(*) FROM (
    SELECT t.number FROM (
      SELECT d.valid_from AS number, d.path, d.content_hash FROM document d
      WHERE d.project_id = ${projectId} AND d.valid_from = ANY(${numbers}::int[])
      UNION ALL
      SELECT d.valid_to, d.path, d.content_hash FROM document d
      WHERE d.project_id = ${projectId} AND d.valid_to = ANY(${numbers}::int[])) t
    GROUP BY t.number, t.path HAVING count(*) = 1 OR min(t.content_hash) <> max(t.content_hash)) c
  GROUP BY c.number`

const person = Prisma.sql`jsonb_build_object('id', a.id, 'name', a.name, 'email', a.email)`

interface RecordRow extends Omit<VersionRecord, 'forcedEdits'> {
  id: number
  forcedEdits: (Omit<ForcedEdit, 'createdAt'> & { ms: number })[]
}

function listRecords(client: DatabaseClient): VersionStore['listRecords'] {
  return async (workspaceId, projectId, versions) => {
    const ids = versions.map(({ id }) => id)
    const drafts = versions.flatMap(({ id, number }) => (number === null ? [id] : []))
    const numbers = versions.flatMap(({ number }) => number ?? [])
    // Materialized, because the planner may otherwise count the changes again for each version.
    const rows = await client.$queryRaw<RecordRow[]>`
      WITH d AS MATERIALIZED (${draftChanges(drafts)}), m AS MATERIALIZED (${mergedChanges(projectId, numbers)})
      SELECT v.id, coalesce(d.count, m.count, 0)::int AS "changeCount",
        (SELECT ${person} FROM author a WHERE a.id = v.published_by) AS "publishedBy",
        (SELECT coalesce(jsonb_agg(jsonb_build_object('path', f.path, 'author', ${person}, 'oldHash', f.old_hash,
           'newHash', f.new_hash, 'ms', floor(extract(epoch FROM f.created_at) * 1000)) ORDER BY f.id), '[]')
         FROM forced_edit f JOIN author a ON a.id = f.author_id WHERE f.version_id = v.id) AS "forcedEdits"
      FROM version v JOIN project p ON p.id = v.project_id
        LEFT JOIN d ON d.id = v.id LEFT JOIN m ON m.number = v.number
      WHERE v.id = ANY(${ids}::int[]) AND v.project_id = ${projectId} AND p.workspace_id = ${workspaceId}`
    return new Map(
      rows.map(({ id, publishedBy, changeCount, forcedEdits }) => {
        const edits = forcedEdits.map(({ ms, ...edit }) => ({ ...edit, createdAt: new Date(ms) }))
        return [id, { publishedBy, changeCount, forcedEdits: edits }]
      }),
    )
  }
}

function toVersion({
  authorId: _authorId,
  publishedBy: _publishedBy,
  liveOf,
  ...row
}: Prisma.VersionGetPayload<{ include: typeof shown }>): Version {
  return { ...row, isLive: liveOf !== null }
}
