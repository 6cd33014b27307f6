/** Facts are read on a session whose statements do not count as request activity, because the upkeep uses the same ones. */
import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import { type Cell, firstBinMs, type Histogram, lastBin } from '../../../features/stats/cell.ts'
import { closingMs } from '../../../features/stats/pieces.ts'
import type {
  DayCells,
  Piece,
  PublicationMark,
  Span,
  StatsKey,
  StatsStore,
  StepCell,
  StoredDay,
} from '../../../features/stats/ports.ts'

const keyColumns: Record<StatsKey, string> = {
  prompt: 'document_uuid::text',
  version: 'version_uuid::text',
  model: "coalesce(model, '')",
}

/** Bins of `Histogram`. `least` would ignore a null. Logarithms of numerics take ten times as long as the rest of a piece. */
const binOf = (ms: string) =>
  `CASE WHEN ${ms} < ${firstBinMs} THEN 0 WHEN ${ms} >= ${firstBinMs} THEN least(${lastBin}, 1 + floor(2 * ln(${ms}::float8 / ${firstBinMs}) / ln(2::float8))::int) END`

const histogram = (bin: string) =>
  `SELECT step, via, prompt, key, json_object_agg(${bin}, runs)::text AS bins
   FROM (SELECT step, via, prompt, key, ${bin}, count(*) AS runs FROM fact WHERE ${bin} IS NOT NULL GROUP BY 1, 2, 3, 4, 5) b
   GROUP BY 1, 2, 3, 4`

/** One row for each step, `via` and key. `cost_nano` is cast, because sums of bigint are slow numerics; it is exact to 2⁵³. */
const pieceSql = ({ by, isByPrompt, documentUuid }: Piece) => `WITH fact AS (
    SELECT date_bin(make_interval(secs => $4), at, 'epoch'::timestamptz) AS step, via,
      ${isByPrompt ? 'document_uuid::text' : "''"} AS prompt, ${keyColumns[by]} AS key, status, cost_nano::float8 AS cost,
      usage_estimated, input_tokens, output_tokens, cached_tokens,
      ${binOf('duration_ms')} AS duration, ${binOf('first_token_ms')} AS first_token
    FROM run_figure
    WHERE project_id = $1 AND at >= $2::timestamptz AND at < $3::timestamptz
      ${documentUuid === undefined ? '' : 'AND document_uuid = $5::uuid'}
  ), counts AS (
    SELECT step, via, prompt, key, json_build_array(
        count(*), count(*) FILTER (WHERE status = 'error'), count(*) FILTER (WHERE status = 'stopped'),
        count(*) FILTER (WHERE cost IS NULL), count(*) FILTER (WHERE usage_estimated),
        sum(input_tokens), sum(output_tokens), sum(cached_tokens), coalesce(sum(cost), 0))::text AS sums
    FROM fact GROUP BY 1, 2, 3, 4
  ), durations AS (${histogram('duration')}), first_tokens AS (${histogram('first_token')})
  SELECT (extract(epoch FROM step) * 1000)::float8 AS at, via, prompt, key, sums, durations.bins AS durations,
    first_tokens.bins AS first_tokens
  FROM counts LEFT JOIN durations USING (step, via, prompt, key) LEFT JOIN first_tokens USING (step, via, prompt, key)`

const dayText = (column: string) => `to_char(${column}, 'YYYY-MM-DD')`

/** Days that ended at least ten minutes ago. Both lookups of a project use the first rows of an index. */
const unstoredDays = `
  SELECT p.id AS "projectId", ${dayText("first.at AT TIME ZONE 'UTC'")} AS day
  FROM project p
  CROSS JOIN LATERAL (SELECT max(d.day) AS day FROM run_day d WHERE d.project_id = p.id) last
  CROSS JOIN LATERAL (
    SELECT min(f.at) AS at FROM run_figure f
    WHERE f.project_id = p.id AND f.at >= coalesce((last.day + 1)::timestamp AT TIME ZONE 'UTC', '-infinity')) first
  WHERE p.deleted_at IS NULL AND first.at < date_trunc('day', (now() - interval '${closingMs / 1_000} seconds') AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`

const factsOfStoredDays = `
  DELETE FROM run_figure WHERE run_uuid IN (
    SELECT f.run_uuid FROM project p
    CROSS JOIN LATERAL (SELECT max(d.day) AS day FROM run_day d WHERE d.project_id = p.id) last
    CROSS JOIN LATERAL (
      SELECT run_uuid FROM run_figure f
      WHERE f.project_id = p.id AND f.at < now() - $1::int * interval '1 day'
        AND f.at < (last.day + 1)::timestamp AT TIME ZONE 'UTC'
      LIMIT 1000) f)`

const labels = {
  prompt: `SELECT DISTINCT ON (document_uuid) document_uuid::text AS uuid, path AS label FROM document
    WHERE project_id = $1 AND document_uuid = ANY($2::uuid[]) ORDER BY document_uuid, id DESC`,
  version: `SELECT uuid::text AS uuid, CASE WHEN number IS NULL THEN title ELSE 'v' || number || ' ' || title END AS label
    FROM version WHERE project_id = $1 AND uuid = ANY($2::uuid[])`,
} as const

export function postgresStatsStore(session: SqlSession): StatsStore {
  const list = async <Row>(sql: string, params: readonly unknown[] = []) =>
    (await session.query(sql, params)).rows as Row[]
  const ofPrompt = (documentUuid: string | undefined) => (documentUuid === undefined ? [] : [documentUuid])
  return {
    async look(projectId, documentUuid) {
      const [row] = await list<{ now: number; running: number }>(
        `SELECT (extract(epoch FROM now()) * 1000)::float8 AS now, (
           SELECT count(*)::int FROM run WHERE ended_at IS NULL AND project_id = $1 AND via IN ('api', 'console')
             ${documentUuid === undefined ? '' : 'AND document_uuid = $2::uuid'}) AS running`,
        [projectId, ...ofPrompt(documentUuid)],
      )
      return { now: Number(row?.now), running: Number(row?.running) }
    },
    async countFacts({ projectId, documentUuid }, spans, most) {
      const rows = await list<{ facts: number }>(
        `SELECT (SELECT count(*)::int FROM (
             SELECT 1 FROM run_figure WHERE project_id = $1 AND at >= s.start_at AND at < s.end_at
               ${documentUuid === undefined ? '' : 'AND document_uuid = $5::uuid'} LIMIT $4::int) f) AS facts
         FROM unnest($2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS s(start_at, end_at, at) ORDER BY s.at`,
        [projectId, spans.map(startOf), spans.map(endOf), most, ...ofPrompt(documentUuid)],
      )
      return rows.map(({ facts }) => Number(facts))
    },
    async sumPiece(piece) {
      const { projectId, stepSeconds, documentUuid } = piece
      const params = [projectId, startOf(piece), endOf(piece), stepSeconds, ...ofPrompt(documentUuid)]
      return (await list<PieceRow>(pieceSql(piece), params)).map(toStep)
    },
    async listDays({ projectId, documentUuid = '', by, ...span }) {
      const rows = await list<{ day: string; cells: string }>(
        `SELECT ${dayText('day')} AS day, cells::text AS cells FROM run_day
         WHERE project_id = $1 AND scope = $2 AND by = $3 AND day >= $4::date AND day < $5::date ORDER BY day`,
        [projectId, documentUuid, by, startOf(span), endOf(span)],
      )
      return rows.map(({ day, cells }) => ({ day, cells: JSON.parse(cells) as DayCells }))
    },
    async saveDay(projectId, days: readonly StoredDay[]) {
      const rows = days.map(({ day, documentUuid, by, cells }) => ({ day, scope: documentUuid, by, cells }))
      await session.query(
        `INSERT INTO run_day (project_id, day, scope, by, cells)
         SELECT $1::int, i.day, i.scope, i.by, i.cells
         FROM json_to_recordset($2::text::json) AS i(day date, scope text, by text, cells json)
         WHERE EXISTS (SELECT FROM project WHERE id = $1 AND deleted_at IS NULL)
         ON CONFLICT DO NOTHING`,
        [projectId, JSON.stringify(rows)],
      )
    },
    listUnstoredDays: () => list(unstoredDays),
    dropFacts: async (olderThanDays) => (await session.query(factsOfStoredDays, [olderThanDays])).affectedRows,
    async listLabels(projectId, by, uuids) {
      const rows = await list<{ uuid: string; label: string }>(labels[by], [projectId, [...uuids]])
      return new Map(rows.map(({ uuid, label }) => [uuid, label]))
    },
    async listPublications(projectId, span) {
      const rows = await list<Omit<PublicationMark, 'at'> & { at: number }>(
        `SELECT (extract(epoch FROM r.created_at) * 1000)::float8 AS at, v.uuid::text AS "versionUuid", v.number AS version, v.title
         FROM release r JOIN version v ON v.id = r.version_id
         WHERE r.project_id = $1 AND r.created_at >= $2::timestamptz AND r.created_at < $3::timestamptz
           AND r.kind <> 'edit' ORDER BY r.seq DESC LIMIT 200`,
        [projectId, startOf(span), endOf(span)],
      )
      return rows.map((row) => ({ ...row, at: new Date(Number(row.at)) })).reverse()
    },
  }
}

interface PieceRow {
  at: number
  via: string
  prompt: string
  key: string
  sums: string
  durations: string | null
  first_tokens: string | null
}

function toStep({ at, via, prompt, key, sums, durations, first_tokens }: PieceRow): StepCell {
  const cell: Cell = [JSON.parse(sums) as number[], toBins(durations), toBins(first_tokens)]
  return { at: Number(at), via, prompt, key, cell }
}

function toBins(text: string | null): Histogram {
  return text === null ? {} : (JSON.parse(text) as Histogram)
}

const startOf = ({ from }: Pick<Span, 'from'>) => new Date(from).toISOString()
const endOf = ({ to }: Pick<Span, 'to'>) => new Date(to).toISOString()
