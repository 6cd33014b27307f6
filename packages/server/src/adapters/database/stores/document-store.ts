/** A merged text is one row for an interval of version numbers. Draft rows overlay the live version's (ADR 9). */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { DocumentText, TextHead } from '../../../features/documents/document.ts'
import { openEnd, withMoves } from '../../../features/documents/overlay.ts'
import type {
  DocumentStore,
  DraftRow,
  ListedText,
  MergedText,
  Slot,
  SlotOf,
  TextFilter,
  VersionSet,
} from '../../../features/documents/ports.ts'
import type { DatabaseClient } from '../database.ts'

const updatedBy = Prisma.sql`
  (SELECT jsonb_build_object('id', a.id, 'name', a.name, 'email', a.email) FROM author a WHERE a.id = d.author_id) AS "updatedBy"`

// A published row keeps its column, which says nothing about later versions.
const movedFrom = Prisma.sql`CASE WHEN d.valid_from = 0 THEN d.moved_from END AS "movedFrom"`

// Uses a subquery per row. For a join, the planner may expect many rows and read every version.
const rowColumns = Prisma.sql`
  d.id, d.document_uuid::text AS "documentUuid", d.project_id AS "projectId", d.version_id AS "versionId", d.path,
  d.content_hash AS "contentHash", (SELECT v.merged_at FROM version v WHERE v.id = d.version_id) AS "mergedAt",
  d.created_at AS "createdAt", d.updated_at AS "updatedAt", ${updatedBy}, ${movedFrom}`

const textColumns = Prisma.sql`${rowColumns}, d.content`

const slotColumns = Prisma.sql`
  d.base_hash AS "baseHash", d.deleted_at AS "deletedAt", d.valid_from = 0 AS "isDraft"`

const nameColumns = Prisma.sql`d.path, d.document_uuid::text AS "documentUuid", d.content_hash AS "contentHash"`

/** The number of the version that live serves; 0 if none. The database computes it once in a statement. */
const liveNumber = (projectId: number) => Prisma.sql`
  coalesce((SELECT l.number FROM project p JOIN version l ON l.id = p.live_version_id WHERE p.id = ${projectId}), 0)`

/** Intervals of one path never overlap, so at most one row per path matches. */
const merged = (projectId: number, number: number | Prisma.Sql, row: 'd' | 'o' = 'd') => {
  const of = Prisma.raw(row)
  return Prisma.sql`${of}.project_id = ${projectId} AND ${of}.valid_from > 0 AND ${of}.valid_from <= ${number} AND ${of}.valid_to > ${number}`
}

/** The rows that live serves. */
export const served = (projectId: number, row?: 'd' | 'o') => merged(projectId, liveNumber(projectId), row)

const ofDraft = (id: number, row: 'd' | 'o' | 'h' = 'd') =>
  Prisma.sql`${Prisma.raw(row)}.version_id = ${id} AND ${Prisma.raw(row)}.valid_from = 0`

/** True if the draft's own rows, or live rows that the draft does not hide, contain the prompt of `d`. */
const shows = ({ id, projectId }: VersionSet) => Prisma.sql`EXISTS (
  SELECT FROM document o WHERE o.document_uuid = d.document_uuid AND (${ofDraft(id, 'o')} AND o.deleted_at IS NULL
    OR ${served(projectId, 'o')} AND NOT EXISTS (SELECT FROM document h WHERE ${ofDraft(id, 'h')} AND h.path = o.path)))`

/**
 * A draft shows its own rows, plus the live version's rows at all other paths. Its deleted rows hide live rows.
 * @param atPaths only names `d.path`; `texts` names any column.
 */
function shownRows(set: VersionSet, atPaths: Prisma.Sql, texts = Prisma.empty): Prisma.Sql {
  if (set.asOf !== undefined) return rowsAsOf(set, atPaths, texts)
  const filter = Prisma.sql`${atPaths} ${texts}`
  if (set.number !== null)
    return Prisma.sql`SELECT d.* FROM document d WHERE ${merged(set.projectId, set.number)} ${filter}`
  return Prisma.sql`
    SELECT d.* FROM document d WHERE ${ofDraft(set.id)} AND d.deleted_at IS NULL ${filter}
    UNION ALL
    SELECT d.* FROM document d WHERE ${served(set.projectId)} ${filter}
      AND NOT EXISTS (SELECT 1 FROM document o WHERE o.version_id = ${set.id} AND o.valid_from = 0 AND o.path = d.path)`
}

/** The current set with the later edits undone: at each edited path, the text that the first of them replaced. */
function rowsAsOf({ id, projectId, number, asOf }: VersionSet, atPaths: Prisma.Sql, texts: Prisma.Sql): Prisma.Sql {
  const set = merged(projectId, Number(number))
  const later = (edit: 'd' | 'e') =>
    Prisma.sql`${Prisma.raw(edit)}.version_id = ${id} AND ${Prisma.raw(edit)}.revision > ${asOf}`
  // A forced edit never deletes, so each edited path has a row, which lends its identity.
  return Prisma.sql`
    SELECT d.* FROM document d WHERE ${set} ${atPaths} ${texts}
      AND NOT EXISTS (SELECT FROM forced_edit e WHERE ${later('e')} AND e.path = d.path)
    UNION ALL
    SELECT d.* FROM (
      SELECT o.* FROM (SELECT DISTINCT ON (d.path) d.* FROM forced_edit d WHERE ${later('d')} ${atPaths} ORDER BY d.path, d.revision) e
        JOIN document d ON d.path = e.path
        CROSS JOIN LATERAL jsonb_populate_record(d, jsonb_build_object('content', e.old_content, 'content_hash', e.old_hash,
          'author_id', e.old_author_id, 'updated_at', e.old_updated_at, 'refers', strpos(e.old_content, '<prompt') > 0)) o
      WHERE ${set} AND e.old_hash IS NOT NULL) d
    WHERE true ${texts}`
}

const mergedText = {
  omit: { refers: true, baseHash: true, deletedAt: true, movedFrom: true },
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
    listDifferingPaths: listDifferingPaths(client),
    async listPaths(workspaceId, set, limit) {
      const rows = await client.$queryRaw<{ path: string }[]>`
        SELECT d.path FROM (${shownRows(set, Prisma.empty)}) d WHERE ${ownedBy(workspaceId, set.projectId)}
        ORDER BY d.path COLLATE "C" LIMIT ${limit}`
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
      const project = { workspaceId }
      const where = { projectId, path, contentHash, project }
      const row = await client.document.findFirst({ where, select: { content: true } })
      if (row) return row.content
      const edited = { path, oldHash: contentHash, version: { projectId, project } }
      const edit = await client.forcedEdit.findFirst({ where: edited, select: { oldContent: true } })
      return edit?.oldContent ?? null
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
    copySet: copySet(client),
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
    async recordForcedEdit(workspaceId, set, { revision, old, text, authorId, at }) {
      const { path, documentUuid, content: newContent, contentHash: newHash } = text
      const replaced = old && {
        oldContent: old.content,
        oldHash: old.contentHash,
        oldAuthorId: old.authorId,
        oldUpdatedAt: old.updatedAt,
      }
      const edit = { revision, path, documentUuid, ...replaced, newContent, newHash, authorId, createdAt: at }
      await client.version.update({
        where: { id: set.id, ...inProject(workspaceId, set) },
        data: { revision, forcedEdits: { create: edit } },
        select: { id: true },
      })
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
            FROM (SELECT d.* FROM (${shownRows(set, ...filtersOf(filter))}) d ORDER BY d.path COLLATE "C" ${limit}) d) d
      WHERE ${ownedBy(workspaceId, set.projectId)} ORDER BY d.path COLLATE "C"`
  }
}

function filtersOf(filter: TextFilter): [atPaths: Prisma.Sql, texts: Prisma.Sql] {
  const { prefix = '', paths, orReferring, mentions, after } = filter
  const among = paths && Prisma.sql`d.path = ANY(${paths}::text[])`
  const atPaths = Prisma.sql`
    ${prefix === '' ? Prisma.empty : Prisma.sql`AND starts_with(d.path, ${prefix})`}
    ${after === undefined ? Prisma.empty : Prisma.sql`AND d.path COLLATE "C" > ${after}`}
    ${among && !orReferring ? Prisma.sql`AND ${among}` : Prisma.empty}`
  const texts = Prisma.sql`
    ${among && orReferring ? Prisma.sql`AND (${among} OR d.refers)` : Prisma.empty}
    ${mentions === undefined ? Prisma.empty : mentioning(mentions)}`
  return [atPaths, texts]
}

function mentioning(path: string): Prisma.Sql {
  const name = path.slice(path.lastIndexOf('/') + 1)
  // A reference may have another normalization form than the path, which only matters outside of ASCII.
  const mentions = /^[ -~]*$/.test(name) ? Prisma.sql`AND strpos(d.content, ${name}) > 0` : Prisma.empty
  return Prisma.sql`AND d.refers AND d.path <> ${path} ${mentions}`
}

function listSlots(client: DatabaseClient): DocumentStore['listSlots'] {
  return async (workspaceId, draft, paths) => {
    // The row that a prompt moved to may be at none of the paths.
    const found = await client.$queryRaw<RowOf<DocumentText>[]>`
      SELECT ${textColumns}, ${slotColumns}, CASE WHEN d.valid_from = 0 THEN (
        SELECT jsonb_build_object('path', o.path, 'contentHash', o.content_hash) FROM document o
        WHERE ${ofDraft(draft.id, 'o')} AND o.moved_from = d.path AND o.deleted_at IS NULL LIMIT 1) END AS "movedTo",
        d.valid_from = 0 AND d.deleted_at IS NOT NULL AND ${shows(draft)} AS "isElsewhere"
      FROM (${slotRows(draft, paths)}) d
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
    UNION ALL ${live} AND ${served(draft.projectId)}`
}

function listSlotHeads(client: DatabaseClient): DocumentStore['listSlotHeads'] {
  return async (workspaceId, draft) =>
    withMoves(toSlots(await listHeadRows(client, workspaceId, draft, slotRows(draft))))
}

function listHeads(client: DatabaseClient): DocumentStore['listHeads'] {
  return async (workspaceId, set) => {
    const live = Prisma.sql`SELECT d.* FROM document d WHERE ${served(set.projectId)}`
    const rows =
      set.number === null
        ? Prisma.sql`SELECT d.* FROM document d WHERE ${ofDraft(set.id)} UNION ALL ${live}`
        : shownRows(set, Prisma.empty)
    return withMoves(toSlots(await listHeadRows(client, workspaceId, set, rows)))
  }
}

function listHeadRows(client: DatabaseClient, workspaceId: number, { projectId }: VersionSet, rows: Prisma.Sql) {
  return client.$queryRaw<RowOf<TextHead>[]>`
    SELECT d.document_uuid::text AS "documentUuid", d.path, d.content_hash AS "contentHash", d.updated_at AS "updatedAt", ${updatedBy},
      ${slotColumns}, ${movedFrom}
    FROM (${rows}) d WHERE ${ownedBy(workspaceId, projectId)} ORDER BY d.path COLLATE "C"`
}

function saveDraft(client: DatabaseClient): DocumentStore['saveDraft'] {
  return async (workspaceId, draft, writes) => {
    await client.$executeRaw`
      INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash, base_hash, deleted_at, created_at, updated_at, author_id,
        moved_from)
      SELECT w."documentUuid", ${draft.projectId}, ${draft.id}, w.path, w.content, w."contentHash", w."baseHash", w."deletedAt", w."createdAt", w."updatedAt", (w."updatedBy" ->> 'id')::int,
        w."movedFrom"
      FROM jsonb_to_recordset(${JSON.stringify(writes)}::jsonb) AS w("documentUuid" uuid, path text, content text, "contentHash" text,
        "baseHash" text, "deletedAt" timestamptz, "createdAt" timestamptz, "updatedAt" timestamptz, "updatedBy" jsonb, "movedFrom" text)
      WHERE ${ownedBy(workspaceId, draft.projectId)}
      ON CONFLICT (version_id, path, valid_from) DO UPDATE SET document_uuid = excluded.document_uuid, content = excluded.content,
        content_hash = excluded.content_hash, base_hash = excluded.base_hash, deleted_at = excluded.deleted_at,
        created_at = excluded.created_at, updated_at = excluded.updated_at, author_id = excluded.author_id, moved_from = excluded.moved_from`
  }
}

/** The paths in live from which the draft moves prompts. */
const leftPaths = (draftId: number) =>
  Prisma.sql`SELECT o.moved_from FROM document o WHERE ${ofDraft(draftId, 'o')} AND o.moved_from IS NOT NULL AND o.deleted_at IS NULL`

function publishDraft(client: DatabaseClient): DocumentStore['publishDraft'] {
  return async (workspaceId, draft, number, paths) => {
    const own = inProject(workspaceId, draft)
    // Gives the draft's rows the live rows' document ids. A row gets a new id if live has moved its prompt elsewhere since,
    // because an id must be unique in a set. Then closes the open rows to make room for the draft's.
    // Each list is computed once: for a subquery per row, the planner may read the project's texts for each row.
    await client.$executeRaw`
      UPDATE document r SET document_uuid = coalesce(
        CASE WHEN r.moved_from IS NULL AND r.path NOT IN (${leftPaths(draft.id)}) THEN
          (SELECT d.document_uuid FROM document d WHERE ${served(draft.projectId)} AND d.path = r.path) END,
        CASE WHEN r.id IN (SELECT min(o.id) FROM document o WHERE ${ofDraft(draft.id, 'o')} AND o.deleted_at IS NULL GROUP BY o.document_uuid)
          AND (r.document_uuid NOT IN (SELECT d.document_uuid FROM document d WHERE ${served(draft.projectId)})
            OR (r.moved_from, r.document_uuid) IN (SELECT d.path, d.document_uuid FROM document d
              WHERE ${served(draft.projectId)} AND d.path IN (${leftPaths(draft.id)}))) THEN r.document_uuid END,
        gen_random_uuid())
      WHERE r.version_id = ${draft.id} AND r.valid_from = 0 AND r.deleted_at IS NULL AND ${ownedBy(workspaceId, draft.projectId)}`
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

function copySet(client: DatabaseClient): DocumentStore['copySet'] {
  return async (workspaceId, set, number, exceptPaths) => {
    const texts = Prisma.sql`(${shownRows(set, Prisma.sql`AND d.path <> ALL(${exceptPaths}::text[])`)})`
    await client.$executeRaw`
      UPDATE document h SET valid_to = ${number}
      WHERE h.project_id = ${set.projectId} AND h.valid_to = ${openEnd} AND ${ownedBy(workspaceId, set.projectId)}
        AND (h.path, h.content_hash, h.document_uuid) NOT IN (SELECT t.path, t.content_hash, t.document_uuid FROM ${texts} t)`
    await client.$executeRaw`
      INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash, valid_from, valid_to, author_id,
        created_at, updated_at)
      SELECT t.document_uuid, t.project_id, t.version_id, t.path, t.content, t.content_hash, ${number}, ${openEnd}, t.author_id,
        t.created_at, t.updated_at
      FROM ${texts} t WHERE ${ownedBy(workspaceId, set.projectId)} AND NOT EXISTS
        (SELECT FROM document h WHERE h.project_id = t.project_id AND h.valid_to = ${openEnd} AND h.path = t.path)`
  }
}

function listDifferingPaths(client: DatabaseClient): DocumentStore['listDifferingPaths'] {
  return async (workspaceId, one, other) => {
    const numbers = await Promise.all([one, other].map(({ number }) => number ?? liveNumberOf(workspaceId, one)))
    const between = { gt: Math.min(...numbers), lte: Math.max(...numbers) }
    const drafts = [one, other].flatMap(({ id, number }) => (number === null ? [id] : []))
    const rows = await client.document.findMany({
      where: {
        ...inProject(workspaceId, one),
        OR: [{ versionId: { in: drafts }, validFrom: 0 }, { validFrom: between }, { validTo: between }],
      },
      select: { path: true },
      distinct: 'path',
    })
    const undone = [one, other].flatMap(({ id, asOf }) =>
      asOf === undefined ? [] : { versionId: id, revision: { gt: asOf } },
    )
    const version = inProject(workspaceId, one)
    const edits =
      undone.length === 0
        ? []
        : await client.forcedEdit.findMany({ where: { OR: undone, version }, select: { path: true } })
    return [...new Set([...rows, ...edits].map(({ path }) => path))]
  }

  /** A draft overlays live. */
  async function liveNumberOf(workspaceId: number, set: VersionSet): Promise<number> {
    const live = await client.version.findFirst({
      where: { liveOf: { id: set.projectId, workspaceId } },
      select: { number: true },
    })
    return live?.number ?? 0
  }
}

type RowOf<Text> = Text &
  Pick<DraftRow, 'path' | 'baseHash' | 'deletedAt' | 'movedFrom'> &
  Pick<Slot, 'isElsewhere'> & { isDraft: boolean; movedTo?: Slot['movedTo'] }

function toSlots<Text>(rows: readonly RowOf<Text>[]): SlotOf<Text>[] {
  const slots = new Map<string, SlotOf<Text>>()
  for (const row of rows) {
    const slot: SlotOf<Text> = slots.get(row.path) ?? { path: row.path, draft: null, live: null, movedTo: null }
    if (row.isDraft) {
      slot.draft = row
      slot.movedTo = row.movedTo ?? null
      slot.isElsewhere = row.isElsewhere
    } else slot.live = row
    slots.set(row.path, slot)
  }
  return [...slots.values()]
}
