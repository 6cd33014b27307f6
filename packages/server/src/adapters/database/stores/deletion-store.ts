/** Runs on a session whose statements do not count as request activity. */

import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import {
  type ConversationTable,
  type DeletionStore,
  type DraftTable,
  type ErasureRequest,
  type HiddenJudge,
  type ProjectTable,
  type PurgedRows,
  purgeBatch,
  type SweepPlace,
} from '../../../features/conversations/deletion/ports.ts'
import { restorableDays } from '../../../features/projects/project.ts'
import { erasedAnswer } from './idempotency-store.ts'

const { rows: most, largeRows } = purgeBatch

/** A run that read its project before the deletion is stored within this time. */
const lateRuns = "interval '10 minutes'"

const isEnded = "c.deleted_at IS NULL AND c.status NOT IN ('queued', 'running')"

const ofErasure = `c.workspace_id = $1 AND c.custom_identifier = $2 AND c.created_at <= $3::timestamptz
  AND ($4::int IS NULL OR c.project_id = $4::int)`

const erasureParams = ({ workspaceId, customIdentifier, createdAt, projectId }: ErasureRequest) => [
  workspaceId,
  customIdentifier,
  createdAt.toISOString(),
  projectId,
]

// Skips rows that a starting chat has locked. Waiting for several of them could deadlock.
const hiding = (condition: string, order = '') => `
  UPDATE conversation SET deleted_at = now()
  WHERE uuid IN (
    SELECT c.uuid FROM conversation c WHERE ${condition} AND ${isEnded}
    ${order} LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED)
  RETURNING uuid::text AS uuid, workspace_id AS "workspaceId", created_at::text AS "createdAt"`

const hidingErased = hiding(`${ofErasure} AND c.uuid <> ALL($5::uuid[])`)

/**
 * Finds the source of a row by its run, and after the purge of that run by the identifier that the row then has.
 * Experiments keep the items of the row, without its name.
 */
const forgetting = `
  WITH forgotten AS (
    DELETE FROM example WHERE id IN (
      SELECT e.id FROM conversation c JOIN run r ON r.conversation_uuid = c.uuid JOIN example e ON e.source_run_uuid = r.uuid
      WHERE ${ofErasure} AND c.deleted_at IS NOT NULL
      UNION ALL
      SELECT e.id FROM example e
      WHERE e.workspace_id = $1 AND e.custom_identifier = $2 AND ($4::int IS NULL OR e.project_id = $4::int))
    RETURNING uuid, project_id)
  UPDATE experiment_item i SET row_name = 'erased'
  FROM forgotten f JOIN experiment n ON n.project_id = f.project_id
  WHERE i.experiment_id = n.id AND i.example_uuid = f.uuid`

// Experiments have a retention of their own, because the deletion of a conversation deletes its scores.
// `updated_at` is never earlier than `created_at`, so the indexed creation time narrows the search.
const hidingExpired = hiding(
  `c.project_id = $1 AND c.via IN ('api', 'console') AND c.created_at < now() - $2::int * interval '1 day'
    AND c.updated_at < now() - $2::int * interval '1 day' AND (c.created_at, c.uuid) > ($3::timestamptz, $4::uuid)`,
  'ORDER BY c.created_at, c.uuid',
)

/**
 * One batch of hidden conversations, each with its judges that are not hidden. No judge can start after its answer was
 * hidden. An answer waits for the end of its judges.
 */
const hiddenWithJudges = `
  SELECT h.uuid::text AS uuid, j.uuid::text AS judge FROM (
    SELECT c.uuid FROM conversation c WHERE c.deleted_at IS NOT NULL AND NOT EXISTS (
      SELECT FROM conversation a WHERE a.judged_uuid = c.uuid AND a.status IN ('queued', 'running'))
    ORDER BY c.deleted_at LIMIT ${largeRows}) h
  LEFT JOIN conversation j ON j.judged_uuid = h.uuid AND j.deleted_at IS NULL`

const hidingJudges = hiding('c.uuid = ANY($1::uuid[])')

const batchOf = (table: string, condition: string) =>
  `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${condition} LIMIT ${most})`

/** Keeps the id, so that a repeated request does no work for the rest of the day. */
const erasingRecords = (condition: string) =>
  `UPDATE idempotency_record
   SET answer = '${erasedAnswer}', request_hash = '', conversation_uuid = NULL, run_uuid = NULL, project_id = NULL
   WHERE id IN (SELECT id FROM idempotency_record WHERE ${condition} LIMIT ${most})`

/** $1 = conversation uuids. Each statement finds its rows by index. */
const belowConversations: Record<ConversationTable, string> = {
  tool_call: `DELETE FROM tool_call WHERE id IN (SELECT t.id FROM run r JOIN tool_call t ON t.run_uuid = r.uuid
    WHERE r.conversation_uuid = ANY($1::uuid[]) LIMIT ${most})`,
  annotation: batchOf('annotation', 'conversation_uuid = ANY($1::uuid[])'),
  conversation_tag: `DELETE FROM conversation_tag WHERE (project_id, tag, at, conversation_uuid) IN (
    SELECT project_id, tag, at, conversation_uuid FROM conversation_tag
    WHERE conversation_uuid = ANY($1::uuid[]) LIMIT ${most})`,
  log_entry: `DELETE FROM log_entry WHERE conversation_uuid = ANY($1::uuid[])`,
  idempotency_record: erasingRecords('conversation_uuid = ANY($1::uuid[])'),
  // An example keeps the identifier, so that a later erasure finds it without the run.
  run: `WITH named AS (
      UPDATE example e SET custom_identifier = c.custom_identifier
      FROM conversation c JOIN run r ON r.conversation_uuid = c.uuid
      WHERE c.uuid = ANY($1::uuid[]) AND e.source_run_uuid = r.uuid AND c.custom_identifier IS NOT NULL
        AND e.custom_identifier IS NULL)
    DELETE FROM run WHERE uuid IN (
      SELECT uuid FROM run WHERE conversation_uuid = ANY($1::uuid[]) LIMIT ${largeRows}) RETURNING uuid::text AS key`,
  conversation: 'DELETE FROM conversation WHERE uuid = ANY($1::uuid[]) AND deleted_at IS NOT NULL',
}

/** $1 = the project id. */
const belowProject: Record<ProjectTable, string> = {
  idempotency_record: erasingRecords('project_id = $1'),
  run_figure: `DELETE FROM run_figure WHERE run_uuid IN (SELECT run_uuid FROM run_figure WHERE project_id = $1 LIMIT ${most})`,
  evaluation: batchOf('evaluation', 'project_id = $1'),
  example: `DELETE FROM example WHERE id IN (SELECT id FROM example WHERE project_id = $1 LIMIT ${largeRows})`,
  experiment_item: `DELETE FROM experiment_item WHERE uuid IN (SELECT i.uuid FROM experiment e
    JOIN experiment_item i ON i.experiment_id = e.id WHERE e.project_id = $1 LIMIT ${most})`,
  experiment: `DELETE FROM experiment WHERE id IN (SELECT id FROM experiment WHERE project_id = $1 LIMIT ${largeRows})`,
  forced_edit: `DELETE FROM forced_edit WHERE id IN (SELECT f.id FROM version v JOIN forced_edit f ON f.version_id = v.id
    WHERE v.project_id = $1 LIMIT ${most})`,
  release: batchOf('release', 'project_id = $1'),
  run_day: `DELETE FROM run_day WHERE (project_id, day, scope, by) IN (
    SELECT project_id, day, scope, by FROM run_day WHERE project_id = $1 LIMIT ${most})`,
  document: batchOf('document', 'project_id = $1'),
  version: batchOf('version', 'project_id = $1'),
  api_key: `${batchOf('api_key', 'project_id = $1')} RETURNING hash AS key`,
  // An author's name comes from a key. An author is deleted after its last key, version, release, example and experiment.
  author: `DELETE FROM author WHERE id IN (SELECT a.id FROM project p JOIN author a ON a.workspace_id = p.workspace_id
    WHERE p.id = $1 AND NOT EXISTS (SELECT FROM api_key k WHERE k.author_id = a.id)
      AND NOT EXISTS (SELECT FROM version v WHERE v.author_id = a.id)
      AND NOT EXISTS (SELECT FROM release r WHERE r.author_id = a.id)
      AND NOT EXISTS (SELECT FROM example e WHERE e.author_id = a.id)
      AND NOT EXISTS (SELECT FROM experiment x WHERE x.author_id = a.id) LIMIT ${most})`,
}

/** An hour longer than drafts can be restored, because the clocks of the servers and of the database may differ. */
const expiredDrafts = `SELECT id FROM version
  WHERE deleted_at < now() - interval '${restorableDays} days 1 hour' ORDER BY deleted_at LIMIT ${largeRows}`

/** $1 = ids of drafts. */
const belowDrafts: Record<DraftTable, string> = {
  document: batchOf('document', 'version_id = ANY($1::int[])'),
  version: 'DELETE FROM version WHERE id = ANY($1::int[])',
}

export function postgresDeletionStore(session: SqlSession): DeletionStore {
  const list = async <Row>(sql: string, params: readonly unknown[] = []) =>
    (await session.query(sql, params)).rows as Row[]
  const listUuids = async (sql: string, params?: readonly unknown[]) =>
    (await list<{ uuid: string }>(sql, params)).map(({ uuid }) => uuid)
  const purge = async (sql: string, param: unknown): Promise<PurgedRows> => {
    const { rows, affectedRows } = await session.query(sql, [param])
    return { count: affectedRows, keys: rows.map((row) => String(row['key'])) }
  }
  return {
    async hideConversation(workspaceId, uuid) {
      // Waits for a chat that is starting concurrently. The later of the two then fails its condition.
      const { affectedRows } = await session.query(
        `UPDATE conversation c SET deleted_at = now() WHERE c.uuid = $2::uuid AND c.workspace_id = $1 AND ${isEnded}`,
        [workspaceId, uuid],
      )
      return affectedRows === 1
    },
    hideErased: (erasure, active) => listUuids(hidingErased, [...erasureParams(erasure), [...active]]),
    async forgetExamples(erasure) {
      await session.query(forgetting, erasureParams(erasure))
    },
    hideOfProject: (projectId) => listUuids(hiding('c.project_id = $1'), [projectId]),
    async hideExpired({ id, days }, after) {
      const from = after ?? { createdAt: '-infinity', uuid: '00000000-0000-0000-0000-000000000000' }
      const hidden = await list<SweepPlace>(hidingExpired, [id, days, from.createdAt, from.uuid])
      return hidden.sort((one, other) => (placeText(one) < placeText(other) ? -1 : 1))
    },
    listLeft: (erasure) =>
      listUuids(
        `SELECT c.uuid::text AS uuid FROM conversation c WHERE ${ofErasure} AND c.deleted_at IS NULL`,
        erasureParams(erasure),
      ),
    listRetained: (serverDays) =>
      list(
        `SELECT id, coalesce(retention_days, $1::int) AS days FROM project
         WHERE deleted_at IS NULL AND coalesce(retention_days, $1::int) > 0`,
        [serverDays],
      ),
    async beginErasure(erasure) {
      const [row] = await list<{ id: number }>(
        `INSERT INTO erasure (workspace_id, custom_identifier, created_at, project_id)
         VALUES ($1, $2, $3::timestamptz, $4::int) RETURNING id`,
        erasureParams(erasure),
      )
      return Number(row?.id)
    },
    async endErasure(id) {
      await session.query('DELETE FROM erasure WHERE id = $1', [id])
    },
    listErasures: () =>
      list(
        `SELECT id, workspace_id AS "workspaceId", project_id AS "projectId", custom_identifier AS "customIdentifier",
           created_at AS "createdAt" FROM erasure ORDER BY id`,
      ),
    listHidden: () => hiddenWith(list),
    purgeConversations: (table, uuids) => purge(belowConversations[table], [...uuids]),
    listActiveRuns: (projectId) =>
      list(
        `SELECT r.workspace_id AS "workspaceId", r.uuid::text AS "runUuid" FROM run r JOIN conversation c ON c.uuid = r.conversation_uuid
         WHERE r.ended_at IS NULL AND r.status IN ('queued', 'running') AND c.project_id = $1`,
        [projectId],
      ),
    async hasConversations(projectId) {
      return (await list('SELECT 1 FROM conversation WHERE project_id = $1 LIMIT 1', [projectId])).length > 0
    },
    purgeProject: (table, projectId) => purge(belowProject[table], projectId),
    listExpiredDrafts: async () => (await list<{ id: number }>(expiredDrafts)).map(({ id }) => id),
    purgeDrafts: (table, ids) => purge(belowDrafts[table], [...ids]),
    async removeProject(projectId) {
      const { affectedRows } = await session.query(
        `DELETE FROM project WHERE id = $1 AND deleted_at < now() - ${lateRuns}
           AND NOT EXISTS (SELECT FROM conversation c WHERE c.project_id = $1)`,
        [projectId],
      )
      return affectedRows === 1
    },
  }
}

type List = <Row>(sql: string, params?: readonly unknown[]) => Promise<Row[]>

async function hiddenWith(list: List): ReturnType<DeletionStore['listHidden']> {
  const rows = await list<{ uuid: string; judge: string | null }>(hiddenWithJudges)
  const found = rows.flatMap(({ judge }) => judge ?? [])
  const judges = found.length === 0 ? [] : await list<HiddenJudge>(hidingJudges, [found])
  const hidden = new Set(judges.map(({ uuid }) => uuid))
  const left = new Set(rows.flatMap(({ uuid, judge }) => (judge !== null && !hidden.has(judge) ? uuid : [])))
  return { uuids: [...new Set(rows.map(({ uuid }) => uuid))].filter((uuid) => !left.has(uuid)), judges }
}

function placeText({ createdAt, uuid }: SweepPlace): string {
  return `${new Date(createdAt).toISOString()} ${uuid}`
}
