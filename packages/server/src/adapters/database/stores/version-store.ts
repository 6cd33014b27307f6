import { randomUUID } from 'node:crypto'
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { ForcedEdit, Version, VersionRecord } from '../../../features/projects/project.ts'
import type { VersionStore } from '../../../features/versions/ports.ts'
import { refuse } from '../../../shared/app-error.ts'
import type { DatabaseClient } from '../database.ts'
import { withAuthor } from './api-key-store.ts'
import { served } from './document-store.ts'

const shown = {
  ...withAuthor,
  liveOf: { select: { id: true } },
  base: { select: { uuid: true } },
} as const satisfies Prisma.VersionInclude

const inProject = (workspaceId: number, projectId: number) => ({ projectId, project: { workspaceId } })

const newestFirst = [{ createdAt: 'desc' }, { id: 'desc' }] satisfies Prisma.VersionOrderByWithRelationInput[]

async function findVersion(
  client: DatabaseClient,
  where: Prisma.VersionWhereInput,
  orderBy: Prisma.VersionOrderByWithRelationInput[] = [],
): Promise<Version | null> {
  const row = await client.version.findFirst({ where, include: shown, orderBy })
  return row && toVersion(row)
}

export function postgresVersionStore(client: DatabaseClient): VersionStore {
  const findFirst = (...search: [Prisma.VersionWhereInput, Prisma.VersionOrderByWithRelationInput[]?]) =>
    findVersion(client, ...search)
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
    findHeadOptional: (workspaceId, projectId) =>
      findFirst({ ...inProject(workspaceId, projectId), number: { not: null } }, [{ number: 'desc' }]),
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
    createMerged: createMerged(client),
    publish: publish(client),
    async serve(workspaceId, projectId, id, at) {
      const where = { id: projectId, workspaceId }
      await client.project.updateMany({ where, data: { liveVersionId: id, lastEditedAt: at } })
    },
    async freeUuid(projectId, uuid) {
      const version = await client.version.findUnique({
        where: { uuid },
        select: { id: true, projectId: true, deletedAt: true, project: { select: { deletedAt: true } } },
      })
      if (version === null) return true
      const isDeletedHere = version.projectId === projectId && version.deletedAt !== null
      if (version.project.deletedAt === null && !isDeletedHere) return false
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

function publish(client: DatabaseClient): VersionStore['publish'] {
  return async (workspaceId, projectId, id, { number, title, description, at, publishedBy, base }) => {
    // `number: null` matches only a draft. A unique constraint rejects a used number.
    const { count } = await client.version.updateMany({
      where: { ...inProject(workspaceId, projectId), id, number: null },
      data: {
        ...{ number, title, description, publishedBy, mergedAt: at, updatedAt: at },
        ...{ baseVersionId: base?.id ?? null, baseRevision: base?.revision ?? null },
      },
    })
    if (count !== 1) throw new Error('Only a draft can be published')
    await client.project.updateMany({ where: { id: projectId, workspaceId }, data: { liveVersionId: id } })
    const version = await findVersion(client, { id })
    if (!version) throw refuse('unknown-version')
    return version
  }
}

function createMerged(client: DatabaseClient): VersionStore['createMerged'] {
  return async (workspaceId, projectId, { title, description, authorId, parentVersionUuid, base, at }) => {
    const uuid = randomUUID()
    const [row] = await client.$queryRaw<{ id: number; number: number }[]>`
      INSERT INTO version (uuid, project_id, author_id, title, description, parent_version_uuid, number, merged_at, published_by,
        base_version_id, base_revision, created_at, updated_at)
      SELECT ${uuid}::uuid, p.id, ${authorId}, ${title}, ${description}, ${parentVersionUuid}::uuid,
        (SELECT coalesce(max(v.number), 0) + 1 FROM version v WHERE v.project_id = p.id), ${at}, ${authorId},
        ${base.id}, ${base.revision}, ${at}, ${at}
      FROM project p WHERE p.id = ${projectId} AND p.workspace_id = ${workspaceId}
      RETURNING id, number`
    if (!row) throw refuse('unknown-project')
    return { ...row, uuid, title, revision: 0 }
  }
}

/**
 * The draft's rows that differ from live: in the text, or because the draft moves one of both prompts. A move counts at its
 * new path.
 */
const draftChanges = (projectId: number, ids: readonly number[]) => Prisma.sql`
  SELECT r.version_id AS id, count(*) FROM (
    SELECT r.*, (SELECT d.content_hash FROM document d WHERE ${served(projectId)} AND d.path = r.path) AS live_hash,
      EXISTS (SELECT FROM document m WHERE m.version_id = r.version_id AND m.valid_from = 0 AND m.moved_from = r.path
        AND m.deleted_at IS NULL) AS is_left
    FROM document r WHERE r.version_id = ANY(${ids}::int[]) AND r.valid_from = 0) r
  WHERE CASE WHEN r.deleted_at IS NOT NULL THEN r.live_hash IS NOT NULL AND NOT r.is_left
    ELSE r.content_hash IS DISTINCT FROM r.live_hash OR r.moved_from IS NOT NULL OR r.is_left END
  GROUP BY r.version_id`

/**
 * Per number, the paths at which a text begins or ends, unless one text replaces an equal one of the same prompt, or the
 * prompt continues at another path. The given numbers limit the rows read: compared with a column instead, they may make
 * the planner read every text of the project.
 */
const mergedChanges = (projectId: number, numbers: readonly number[]) => Prisma.sql`
  SELECT c.number, count(*) FROM (
    SELECT t.number FROM (
      SELECT t.*, bool_or(t.begins) OVER (PARTITION BY t.number, t.document_uuid) AS continues FROM (
        SELECT d.valid_from AS number, d.path, d.document_uuid, d.content_hash, true AS begins, d.moved_from IS NOT NULL AS is_moved
        FROM document d WHERE d.project_id = ${projectId} AND d.valid_from = ANY(${numbers}::int[])
        UNION ALL
        SELECT d.valid_to, d.path, d.document_uuid, d.content_hash, false, false
        FROM document d WHERE d.project_id = ${projectId} AND d.valid_to = ANY(${numbers}::int[])) t) t
    GROUP BY t.number, t.path HAVING CASE count(*) WHEN 1 THEN bool_or(t.begins) OR NOT bool_or(t.continues)
      ELSE min(t.content_hash) <> max(t.content_hash) OR bool_or(t.is_moved) END) c
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
      WITH d AS MATERIALIZED (${draftChanges(projectId, drafts)}), m AS MATERIALIZED (${mergedChanges(projectId, numbers)})
      SELECT v.id, coalesce(d.count, m.count, 0)::int AS "changeCount",
        (SELECT ${person} FROM author a WHERE a.id = v.published_by) AS "publishedBy",
        (SELECT coalesce(jsonb_agg(jsonb_build_object('revision', f.revision, 'path', f.path, 'author', ${person}, 'oldHash', f.old_hash,
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
  base,
  baseVersionId: _baseVersionId,
  ...row
}: Prisma.VersionGetPayload<{ include: typeof shown }>): Version {
  return { ...row, baseVersionUuid: base?.uuid ?? null, isLive: liveOf !== null }
}
