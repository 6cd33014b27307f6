/** A merged text is one row for an interval of version numbers. Draft rows overlay the live version's (ADR 9). */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { DocumentText, TextHead } from '../../../features/documents/document.ts'
import { openEnd } from '../../../features/documents/overlay.ts'
import type {
  DocumentStore,
  DraftRow,
  ListedText,
  MergedText,
  SlotOf,
  TextFilter,
  VersionSet,
} from '../../../features/documents/ports.ts'
import type { DatabaseClient } from '../database.ts'

const updatedBy = Prisma.sql`
  (SELECT jsonb_build_object('id', a.id, 'name', a.name, 'email', a.email) FROM author a WHERE a.id = d.author_id) AS "updatedBy"`

// Uses a subquery per row. For a join, the planner may expect many rows and read every version.
const rowColumns = Prisma.sql`
  d.id, d.document_uuid::text AS "documentUuid", d.project_id AS "projectId", d.version_id AS "versionId", d.path,
  d.content_hash AS "contentHash", (SELECT v.merged_at FROM version v WHERE v.id = d.version_id) AS "mergedAt",
  d.created_at AS "createdAt", d.updated_at AS "updatedAt", ${updatedBy}`

const textColumns = Prisma.sql`${rowColumns}, d.content`

const slotColumns = Prisma.sql`
  d.base_hash AS "baseHash", d.deleted_at AS "deletedAt", d.valid_from = 0 AS "isDraft"`

const nameColumns = Prisma.sql`d.path, d.document_uuid::text AS "documentUuid", d.content_hash AS "contentHash"`

// Intervals of one path never overlap, so at most one row per path matches.
const merged = (projectId: number, number: number) =>
  Prisma.sql`d.project_id = ${projectId} AND d.valid_from > 0 AND d.valid_from <= ${number} AND d.valid_to > ${number}`

const ofDraft = (id: number) => Prisma.sql`d.version_id = ${id} AND d.valid_from = 0`

/** A draft shows its own rows, plus the live version's rows at all other paths. Its deleted rows hide live rows. */
function shownRows(set: VersionSet, filter: Prisma.Sql): Prisma.Sql {
  if (set.number !== null)
    return Prisma.sql`SELECT d.* FROM document d WHERE ${merged(set.projectId, set.number)} ${filter}`
  return Prisma.sql`
    SELECT d.* FROM document d WHERE ${ofDraft(set.id)} AND d.deleted_at IS NULL ${filter}
    UNION ALL
    SELECT d.* FROM document d WHERE d.project_id = ${set.projectId} AND d.valid_to = ${openEnd} ${filter}
      AND NOT EXISTS (SELECT 1 FROM document o WHERE o.version_id = ${set.id} AND o.valid_from = 0 AND o.path = d.path)`
}

const mergedText = {
  omit: { refers: true, baseHash: true, deletedAt: true },
  include: { version: { select: { mergedAt: true } } },
} as const

function toMergedText({ version, validTo, ...row }: Prisma.DocumentGetPayload<typeof mergedText>): MergedText {
  return { ...row, mergedAt: version.mergedAt, validTo: validTo ?? openEnd }
}

function inProject(workspaceId: number, { projectId }: VersionSet) {
  return { projectId, project: { workspaceId } }
}

function ownedBy(workspaceId: number, projectId: number): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT 1 FROM project p WHERE p.id = ${projectId} AND p.workspace_id = ${workspaceId})`
}

type Filtered = [workspaceId: number, set: VersionSet, filter: Prisma.Sql]

function listShown(client: DatabaseClient, ...filtered: Filtered): Promise<DocumentText[]> {
  return listColumns(client, textColumns, ...filtered)
}

function listColumns<Row>(client: DatabaseClient, columns: Prisma.Sql, ...filtered: Filtered): Promise<Row[]> {
  const [workspaceId, set, filter] = filtered
  return client.$queryRaw<Row[]>`
    SELECT ${columns} FROM (${shownRows(set, filter)}) d
    WHERE ${ownedBy(workspaceId, set.projectId)} ORDER BY d.path COLLATE "C"`
}

export function postgresDocumentStore(client: DatabaseClient): DocumentStore {
  return {
    list: listTexts(client),
    listByPaths: (workspaceId, set, paths) =>
      listShown(client, workspaceId, set, Prisma.sql`AND d.path = ANY(${paths}::text[])`),
    listNames: (workspaceId, set, paths) =>
      listColumns(client, nameColumns, workspaceId, set, Prisma.sql`AND d.path = ANY(${paths}::text[])`),
    async listDifferingPaths(workspaceId, one, other) {
      // A draft overlays the live version, so it counts as higher than every version number.
      const [first, second] = [one.number ?? openEnd - 1, other.number ?? openEnd - 1]
      const [after, until] = [Math.min(first, second), Math.max(first, second)]
      const drafts = [one, other].flatMap(({ id, number }) => (number === null ? [id] : []))
      const between = { gt: after, lte: until }
      const rows = await client.document.findMany({
        where: {
          ...inProject(workspaceId, one),
          OR: [{ versionId: { in: drafts }, validFrom: 0 }, { validFrom: between }, { validTo: between }],
        },
        select: { path: true },
        distinct: 'path',
      })
      return rows.map((row) => row.path)
    },
    async listPaths(workspaceId, set, limit) {
      const rows = await client.$queryRaw<{ path: string }[]>`
        SELECT d.path FROM (${shownRows(set, Prisma.empty)}) d WHERE ${ownedBy(workspaceId, set.projectId)} LIMIT ${limit}`
      return rows.map((row) => row.path)
    },
    async findOptional(workspaceId, set, path) {
      const [row] = await listShown(client, workspaceId, set, Prisma.sql`AND d.path = ${path}`)
      return row ?? null
    },
    async findMergedOptional(workspaceId, set, number, path) {
      const row = await client.document.findFirst({
        where: { path, validFrom: { gt: 0, lte: number }, validTo: { gt: number }, ...inProject(workspaceId, set) },
        ...mergedText,
      })
      return row && toMergedText(row)
    },
    async findContentOptional(workspaceId, projectId, path, contentHash) {
      const where = { projectId, path, contentHash, project: { workspaceId } }
      return (await client.document.findFirst({ where, select: { content: true } }))?.content ?? null
    },
    async knowsDocument(workspaceId, projectId, documentUuid) {
      const where = { projectId, documentUuid, project: { workspaceId } }
      return (await client.document.findFirst({ where, select: { id: true } })) !== null
    },
    listSlots: listSlots(client),
    listSlotHeads: listSlotHeads(client),
    listHeads: listHeads(client),
    saveDraft: saveDraft(client),
    async deleteDraft(workspaceId, draft, paths) {
      const where = { versionId: draft.id, validFrom: 0, path: { in: [...paths] }, ...inProject(workspaceId, draft) }
      await client.document.deleteMany({ where })
    },
    publishDraft: publishDraft(client),
    async replaceMerged(workspaceId, set, { old, pieces }) {
      const own = inProject(workspaceId, set)
      if (old?.end === null) await client.document.deleteMany({ where: { id: old.id, ...own } })
      else if (old) await client.document.updateMany({ where: { id: old.id, ...own }, data: { validTo: old.end } })
      await client.project.update({
        where: { id: set.projectId, workspaceId },
        data: { documents: { createMany: { data: [...pieces] } } },
        select: { id: true },
      })
    },
    async recordForcedEdit(workspaceId, set, { at, ...edit }) {
      const version = { connect: { id: set.id, ...inProject(workspaceId, set) } }
      await client.forcedEdit.create({ data: { ...edit, createdAt: at, version }, select: { id: true } })
    },
  }
}

/** A list returns this much text. More would fill the memory while the list waits for its client. */
const listedBytes = 1_048_576

// Not `octet_length(content)` of the outer query: the sum is computed from the sizes alone, without reading the texts.
function listTexts(client: DatabaseClient): DocumentStore['list'] {
  return (workspaceId, set, filter) => {
    const limit = filter.limit === undefined ? Prisma.empty : Prisma.sql`LIMIT ${filter.limit}`
    return client.$queryRaw<ListedText[]>`
      SELECT ${rowColumns}, octet_length(d.content) AS bytes, CASE WHEN d.bytes_so_far <= ${listedBytes} THEN d.content END AS content
      FROM (SELECT d.*, sum(octet_length(d.content)) OVER (ORDER BY d.path COLLATE "C") AS bytes_so_far
            FROM (SELECT d.* FROM (${shownRows(set, filterOf(filter))}) d ORDER BY d.path COLLATE "C" ${limit}) d) d
      WHERE ${ownedBy(workspaceId, set.projectId)} ORDER BY d.path COLLATE "C"`
  }
}

function filterOf({ prefix = '', paths, orReferring, mentions, after }: TextFilter): Prisma.Sql {
  const atPaths = paths && Prisma.sql`d.path = ANY(${paths}::text[])`
  return Prisma.sql`
    ${prefix === '' ? Prisma.empty : Prisma.sql`AND starts_with(d.path, ${prefix})`}
    ${after === undefined ? Prisma.empty : Prisma.sql`AND d.path COLLATE "C" > ${after}`}
    ${atPaths ? Prisma.sql`AND (${atPaths} ${orReferring ? Prisma.sql`OR d.refers` : Prisma.empty})` : Prisma.empty}
    ${mentions === undefined ? Prisma.empty : mentioning(mentions)}`
}

function mentioning(path: string): Prisma.Sql {
  const name = path.slice(path.lastIndexOf('/') + 1)
  // A reference may have another normalization form than the path, which only matters outside of ASCII.
  const mentions = /^[ -~]*$/.test(name) ? Prisma.sql`AND strpos(d.content, ${name}) > 0` : Prisma.empty
  return Prisma.sql`AND d.refers AND d.path <> ${path} ${mentions}`
}

function listSlots(client: DatabaseClient): DocumentStore['listSlots'] {
  return async (workspaceId, draft, paths) => {
    const found = await client.$queryRaw<RowOf<DocumentText>[]>`
      SELECT ${textColumns}, ${slotColumns} FROM (${slotRows(draft, paths)}) d
      WHERE ${ownedBy(workspaceId, draft.projectId)} ORDER BY d.path COLLATE "C"`
    return toSlots(found)
  }
}

function slotRows(draft: VersionSet, paths?: readonly string[]): Prisma.Sql {
  // Without `paths`, looks up the path of each draft row by index, so the cost is linear in the draft.
  const live = paths
    ? Prisma.sql`SELECT d.* FROM document d WHERE d.path = ANY(${paths}::text[])`
    : Prisma.sql`SELECT d.* FROM document o JOIN document d ON d.path = o.path WHERE o.version_id = ${draft.id} AND o.valid_from = 0`
  const filter = paths ? Prisma.sql`AND d.path = ANY(${paths}::text[])` : Prisma.empty
  return Prisma.sql`SELECT d.* FROM document d WHERE ${ofDraft(draft.id)} ${filter}
    UNION ALL ${live} AND d.project_id = ${draft.projectId} AND d.valid_to = ${openEnd}`
}

function listSlotHeads(client: DatabaseClient): DocumentStore['listSlotHeads'] {
  return async (workspaceId, draft) => toSlots(await listHeadRows(client, workspaceId, draft, slotRows(draft)))
}

function listHeads(client: DatabaseClient): DocumentStore['listHeads'] {
  return async (workspaceId, set) => {
    const live = Prisma.sql`SELECT d.* FROM document d WHERE d.project_id = ${set.projectId} AND d.valid_to = ${openEnd}`
    const rows =
      set.number === null
        ? Prisma.sql`SELECT d.* FROM document d WHERE ${ofDraft(set.id)} UNION ALL ${live}`
        : shownRows(set, Prisma.empty)
    return toSlots(await listHeadRows(client, workspaceId, set, rows))
  }
}

function listHeadRows(client: DatabaseClient, workspaceId: number, { projectId }: VersionSet, rows: Prisma.Sql) {
  return client.$queryRaw<RowOf<TextHead>[]>`
    SELECT d.document_uuid::text AS "documentUuid", d.path, d.content_hash AS "contentHash", d.updated_at AS "updatedAt", ${updatedBy},
      ${slotColumns}
    FROM (${rows}) d WHERE ${ownedBy(workspaceId, projectId)} ORDER BY d.path COLLATE "C"`
}

function saveDraft(client: DatabaseClient): DocumentStore['saveDraft'] {
  return async (workspaceId, draft, writes) => {
    await client.$executeRaw`
      INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash, base_hash, deleted_at, created_at, updated_at, author_id)
      SELECT w."documentUuid", ${draft.projectId}, ${draft.id}, w.path, w.content, w."contentHash", w."baseHash", w."deletedAt", w."createdAt", w."updatedAt", (w."updatedBy" ->> 'id')::int
      FROM jsonb_to_recordset(${JSON.stringify(writes)}::jsonb) AS w("documentUuid" uuid, path text, content text, "contentHash" text,
        "baseHash" text, "deletedAt" timestamptz, "createdAt" timestamptz, "updatedAt" timestamptz, "updatedBy" jsonb)
      WHERE ${ownedBy(workspaceId, draft.projectId)}
      ON CONFLICT (version_id, path, valid_from) DO UPDATE SET document_uuid = excluded.document_uuid, content = excluded.content,
        content_hash = excluded.content_hash, base_hash = excluded.base_hash, deleted_at = excluded.deleted_at,
        created_at = excluded.created_at, updated_at = excluded.updated_at, author_id = excluded.author_id`
  }
}

function publishDraft(client: DatabaseClient): DocumentStore['publishDraft'] {
  return async (workspaceId, draft, number, paths) => {
    const own = inProject(workspaceId, draft)
    // Gives the draft's rows the live rows' document ids. Then closes the live rows to make room for the draft's.
    await client.$executeRaw`
      UPDATE document d SET document_uuid = coalesce(
        (SELECT l.document_uuid FROM document l
         WHERE l.project_id = ${draft.projectId} AND l.valid_to = ${openEnd} AND l.path = d.path), d.document_uuid)
      WHERE ${ofDraft(draft.id)} AND ${ownedBy(workspaceId, draft.projectId)}`
    await client.document.updateMany({
      where: { ...own, validTo: openEnd, path: { in: [...paths] } },
      data: { validTo: number },
    })
    await client.document.updateMany({
      where: { ...own, versionId: draft.id, validFrom: 0, deletedAt: null },
      data: { validFrom: number, validTo: openEnd },
    })
  }
}

type RowOf<Text> = Text & Pick<DraftRow, 'path' | 'baseHash' | 'deletedAt'> & { isDraft: boolean }

function toSlots<Text>(rows: readonly RowOf<Text>[]): SlotOf<Text>[] {
  const slots = new Map<string, SlotOf<Text>>()
  for (const row of rows) {
    const slot: SlotOf<Text> = slots.get(row.path) ?? { path: row.path, draft: null, live: null }
    if (row.isDraft) slot.draft = row
    else slot.live = row
    slots.set(row.path, slot)
  }
  return [...slots.values()]
}
