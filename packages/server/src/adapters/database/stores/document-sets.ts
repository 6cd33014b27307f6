/** The rows of a version's set, as parts of SQL statements (ADR 9). */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { VersionSet } from '../../../features/documents/ports.ts'

/** The number of the version that live serves; 0 if none. The database computes it once in a statement. */
const liveNumber = (projectId: number) => Prisma.sql`
  coalesce((SELECT l.number FROM project p JOIN version l ON l.id = p.live_version_id WHERE p.id = ${projectId}), 0)`

/** Intervals of one path never overlap, so at most one row per path matches. */
const merged = (projectId: number, number: number | Prisma.Sql) =>
  Prisma.sql`d.project_id = ${projectId} AND d.valid_from > 0 AND d.valid_from <= ${number} AND d.valid_to > ${number}`

/** The rows that live serves. */
export const served = (projectId: number) => merged(projectId, liveNumber(projectId))

export const ofDraft = (id: number) => Prisma.sql`d.version_id = ${id} AND d.valid_from = 0`

/** A draft shows its own rows, plus the live version's rows at all other paths. Its deleted rows hide live rows. */
export function shownRows(set: VersionSet, filter: Prisma.Sql): Prisma.Sql {
  if (set.asOf !== undefined) return rowsAsOf(set, filter)
  if (set.number !== null)
    return Prisma.sql`SELECT d.* FROM document d WHERE ${merged(set.projectId, set.number)} ${filter}`
  return Prisma.sql`
    SELECT d.* FROM document d WHERE ${ofDraft(set.id)} AND d.deleted_at IS NULL ${filter}
    UNION ALL
    SELECT d.* FROM document d WHERE ${served(set.projectId)} ${filter}
      AND NOT EXISTS (SELECT 1 FROM document o WHERE o.version_id = ${set.id} AND o.valid_from = 0 AND o.path = d.path)`
}

/** The current set with the later edits undone: at each edited path, the text that the first of them replaced. */
function rowsAsOf({ id, projectId, number, asOf }: VersionSet, filter: Prisma.Sql): Prisma.Sql {
  const set = merged(projectId, Number(number))
  const later = Prisma.sql`e.version_id = ${id} AND e.revision > ${asOf}`
  // A forced edit never deletes, so each edited path has a row, which lends its identity.
  return Prisma.sql`
    SELECT d.* FROM document d WHERE ${set} ${filter} AND NOT EXISTS (SELECT FROM forced_edit e WHERE ${later} AND e.path = d.path)
    UNION ALL
    SELECT d.* FROM (
      SELECT o.* FROM (SELECT DISTINCT ON (e.path) e.* FROM forced_edit e WHERE ${later} ORDER BY e.path, e.revision) e
        JOIN document d ON d.path = e.path
        CROSS JOIN LATERAL jsonb_populate_record(d, jsonb_build_object('content', e.old_content, 'content_hash', e.old_hash,
          'author_id', e.old_author_id, 'updated_at', e.old_updated_at, 'refers', strpos(e.old_content, '<prompt') > 0)) o
      WHERE ${set} AND e.old_hash IS NOT NULL) d
    WHERE true ${filter}`
}
