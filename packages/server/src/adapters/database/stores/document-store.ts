/** Documents in the database: interval rows of merged texts, and the rows of drafts that lie over them. */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { DocumentText } from '../../../features/documents/document.ts'
import { openEnd } from '../../../features/documents/overlay.ts'
import type {
  DocumentStore,
  DraftRow,
  DraftWrite,
  MergedText,
  MergedWrite,
  Slot,
  VersionSet,
} from '../../../features/documents/ports.ts'
import type { DatabaseClient } from '../database.ts'

// The version is looked up row by row: for a join the planner may guess many rows, and read every version for a few.
const textColumns = Prisma.sql`
  d.id, d.document_uuid::text AS "documentUuid", d.project_id AS "projectId", d.version_id AS "versionId", d.path,
  d.content, d.content_hash AS "contentHash", (SELECT v.merged_at FROM version v WHERE v.id = d.version_id) AS "mergedAt",
  d.created_at AS "createdAt", d.updated_at AS "updatedAt"`

// The row of a later set hides nothing here: intervals of one path never overlap.
const merged = (projectId: number, number: number) =>
  Prisma.sql`d.project_id = ${projectId} AND d.valid_from > 0 AND d.valid_from <= ${number} AND d.valid_to > ${number}`

const ofDraft = (id: number) => Prisma.sql`d.version_id = ${id} AND d.valid_from = 0`

/** Rows that the version shows, as a relation `d`: for a draft its own over those of live that it does not touch. */
function shownRows(set: VersionSet, filter: Prisma.Sql): Prisma.Sql {
  if (set.number !== null)
    return Prisma.sql`SELECT d.* FROM document d WHERE ${merged(set.projectId, set.number)} ${filter}`
  return Prisma.sql`
    SELECT d.* FROM document d WHERE ${ofDraft(set.id)} AND d.deleted_at IS NULL ${filter}
    UNION ALL
    SELECT d.* FROM document d WHERE d.project_id = ${set.projectId} AND d.valid_to = ${openEnd} ${filter}
      AND NOT EXISTS (SELECT 1 FROM document o WHERE o.version_id = ${set.id} AND o.valid_from = 0 AND o.path = d.path)`
}

function ownedBy(workspaceId: number, projectId: number): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT 1 FROM project p WHERE p.id = ${projectId} AND p.workspace_id = ${workspaceId})`
}

export function postgresDocumentStore(client: DatabaseClient): DocumentStore {
  return { ...setsOf(client), ...changesOf(client) }
}

type Reads =
  | 'list'
  | 'listByPaths'
  | 'listReferring'
  | 'listDifferingPaths'
  | 'listPaths'
  | 'findOptional'
  | 'findMergedOptional'

/** What versions show. */
function setsOf(client: DatabaseClient): Pick<DocumentStore, Reads> {
  const shown = (workspaceId: number, set: VersionSet, filter: Prisma.Sql) =>
    client.$queryRaw<DocumentText[]>`
      SELECT ${textColumns} FROM (${shownRows(set, filter)}) d
      WHERE ${ownedBy(workspaceId, set.projectId)} ORDER BY d.path COLLATE "C"`
  return {
    list: (workspaceId, set, prefix = '') =>
      shown(workspaceId, set, prefix === '' ? Prisma.empty : Prisma.sql`AND starts_with(d.path, ${prefix})`),
    listByPaths: (workspaceId, set, paths) => shown(workspaceId, set, Prisma.sql`AND d.path = ANY(${paths}::text[])`),
    listReferring: (workspaceId, set, paths) =>
      shown(workspaceId, set, Prisma.sql`AND (d.refers OR d.path = ANY(${paths}::text[]))`),
    async listDifferingPaths(workspaceId, one, other) {
      // A draft lies over live, which is what an open end is the last publication of.
      const [first, second] = [one.number ?? openEnd - 1, other.number ?? openEnd - 1]
      const [after, until] = [Math.min(first, second), Math.max(first, second)]
      const drafts = [one, other].flatMap(({ id, number }) => (number === null ? [id] : []))
      const rows = await client.$queryRaw<{ path: string }[]>`
        SELECT DISTINCT d.path FROM (
          SELECT path FROM document WHERE version_id = ANY(${drafts}::int[]) AND valid_from = 0
          UNION ALL
          SELECT path FROM document WHERE project_id = ${one.projectId} AND valid_from > ${after} AND valid_from <= ${until}
          UNION ALL
          SELECT path FROM document WHERE project_id = ${one.projectId} AND valid_to > ${after} AND valid_to <= ${until}
        ) d WHERE ${ownedBy(workspaceId, one.projectId)}`
      return rows.map((row) => row.path)
    },
    async listPaths(workspaceId, set, limit) {
      const rows = await client.$queryRaw<{ path: string }[]>`
        SELECT d.path FROM (${shownRows(set, Prisma.empty)}) d WHERE ${ownedBy(workspaceId, set.projectId)} LIMIT ${limit}`
      return rows.map((row) => row.path)
    },
    async findOptional(workspaceId, set, path) {
      const [row] = await shown(workspaceId, set, Prisma.sql`AND d.path = ${path}`)
      return row ?? null
    },
    async findMergedOptional(workspaceId, set, number, path) {
      const [row] = await client.$queryRaw<MergedText[]>`
        SELECT ${textColumns}, d.valid_from AS "validFrom", d.valid_to AS "validTo"
        FROM document d WHERE ${merged(set.projectId, number)} AND d.path = ${path} AND ${ownedBy(workspaceId, set.projectId)}`
      return row ?? null
    },
  }
}

/** What drafts change, and how merged sets come to be. */
function changesOf(client: DatabaseClient): Omit<DocumentStore, Reads> {
  return {
    async listSlots(workspaceId, draft, paths) {
      // Live's rows are reached from the draft's one by one, over the index of paths: linear whatever the planner guesses.
      const live = paths
        ? Prisma.sql`SELECT d.* FROM document d WHERE d.path = ANY(${paths}::text[])`
        : Prisma.sql`SELECT d.* FROM document o JOIN document d ON d.path = o.path WHERE o.version_id = ${draft.id} AND o.valid_from = 0`
      const filter = paths ? Prisma.sql`AND d.path = ANY(${paths}::text[])` : Prisma.empty
      const rows = await client.$queryRaw<(DraftRow & { isDraft: boolean })[]>`
        SELECT ${textColumns}, d.base_hash AS "baseHash", d.deleted_at AS "deletedAt", d.valid_from = 0 AS "isDraft"
        FROM (SELECT d.* FROM document d WHERE ${ofDraft(draft.id)} ${filter}
              UNION ALL ${live} AND d.project_id = ${draft.projectId} AND d.valid_to = ${openEnd}) d
        WHERE ${ownedBy(workspaceId, draft.projectId)}
        ORDER BY d.path COLLATE "C"`
      return toSlots(rows)
    },
    async saveDraft(workspaceId, draft, writes) {
      await client.$executeRaw`
        INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash, base_hash, deleted_at, created_at, updated_at)
        SELECT w."documentUuid", ${draft.projectId}, ${draft.id}, w.path, w.content, w."contentHash", w."baseHash", w."deletedAt", w."createdAt", w."updatedAt"
        FROM jsonb_to_recordset(${asJson(writes)}::jsonb) AS w("documentUuid" uuid, path text, content text, "contentHash" text,
          "baseHash" text, "deletedAt" timestamptz, "createdAt" timestamptz, "updatedAt" timestamptz)
        WHERE ${ownedBy(workspaceId, draft.projectId)}
        ON CONFLICT (version_id, path, valid_from) DO UPDATE SET document_uuid = excluded.document_uuid, content = excluded.content,
          content_hash = excluded.content_hash, base_hash = excluded.base_hash, deleted_at = excluded.deleted_at,
          created_at = excluded.created_at, updated_at = excluded.updated_at`
    },
    async deleteDraft(workspaceId, draft, paths) {
      await client.$executeRaw`
        DELETE FROM document d WHERE ${ofDraft(draft.id)} AND d.path = ANY(${paths}::text[])
          AND ${ownedBy(workspaceId, draft.projectId)}`
    },
    async publishDraft(workspaceId, draft, number, paths) {
      const guard = ownedBy(workspaceId, draft.projectId)
      const live = Prisma.sql`l.project_id = ${draft.projectId} AND l.valid_to = ${openEnd}`
      // First the identities, while live's rows are still open; then the ends, which make room for the new rows.
      await client.$executeRaw`
        UPDATE document d SET document_uuid = coalesce(
          (SELECT l.document_uuid FROM document l WHERE ${live} AND l.path = d.path), d.document_uuid)
        WHERE ${ofDraft(draft.id)} AND ${guard}`
      await client.$executeRaw`
        UPDATE document l SET valid_to = ${number} WHERE ${live} AND l.path = ANY(${paths}::text[]) AND ${guard}`
      await client.$executeRaw`
        UPDATE document d SET valid_from = ${number}, valid_to = ${openEnd}
        WHERE ${ofDraft(draft.id)} AND d.deleted_at IS NULL AND ${guard}`
    },
    async replaceMerged(workspaceId, set, { old, pieces }) {
      const guard = ownedBy(workspaceId, set.projectId)
      if (old?.end === null) await client.$executeRaw`DELETE FROM document d WHERE d.id = ${old.id} AND ${guard}`
      else if (old)
        await client.$executeRaw`UPDATE document d SET valid_to = ${old.end} WHERE d.id = ${old.id} AND ${guard}`
      await client.$executeRaw`
        INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash, valid_from, valid_to, created_at, updated_at)
        SELECT w."documentUuid", ${set.projectId}, w."versionId", w.path, w.content, w."contentHash", w."validFrom", w."validTo", w."createdAt", w."updatedAt"
        FROM jsonb_to_recordset(${asJson(pieces)}::jsonb) AS w("documentUuid" uuid, "versionId" int, path text, content text,
          "contentHash" text, "validFrom" int, "validTo" int, "createdAt" timestamptz, "updatedAt" timestamptz)
        WHERE ${guard}`
    },
    async recordForcedEdit(workspaceId, set, edit) {
      await client.$executeRaw`
        INSERT INTO forced_edit (version_id, path, author_id, old_hash, new_hash, created_at)
        SELECT ${set.id}, ${edit.path}, ${edit.authorId}, ${edit.oldHash}, ${edit.newHash}, ${edit.at}
        WHERE ${ownedBy(workspaceId, set.projectId)}`
    },
  }
}

// One parameter for any number of rows: a list of values would meet the limit of 32,767 parameters.
function asJson(rows: readonly (DraftWrite | MergedWrite)[]): string {
  return JSON.stringify(rows)
}

function toSlots(rows: readonly (DraftRow & { isDraft: boolean })[]): Slot[] {
  const slots = new Map<string, Slot>()
  for (const { isDraft, ...row } of rows) {
    const slot = slots.get(row.path) ?? { path: row.path, draft: null, live: null }
    if (isDraft) slot.draft = row
    else slot.live = row
    slots.set(row.path, slot)
  }
  return [...slots.values()]
}
