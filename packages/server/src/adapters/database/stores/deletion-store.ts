/** Runs on a session whose statements do not count as request activity. */

import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import {
  type ConversationTable,
  type DeletionStore,
  type ErasureRequest,
  type ProjectTable,
  type PurgedRows,
  purgeBatch,
} from '../../../features/conversations/deletion/ports.ts'

const { rows: most, largeRows } = purgeBatch

/** Maximum delay before a run that read its project before the deletion is stored. */
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
  RETURNING uuid::text AS uuid, created_at::text AS at`

/** $1 = conversation uuids. Each statement finds its rows by index. */
const belowConversations: Record<ConversationTable, string> = {
  tool_call: `DELETE FROM tool_call WHERE id IN (SELECT t.id FROM run r JOIN tool_call t ON t.run_uuid = r.uuid
    WHERE r.conversation_uuid = ANY($1::uuid[]) LIMIT ${most})`,
  annotation: `DELETE FROM annotation WHERE id IN (
    SELECT id FROM annotation WHERE conversation_uuid = ANY($1::uuid[]) LIMIT ${most})`,
  log_entry: `DELETE FROM log_entry WHERE conversation_uuid = ANY($1::uuid[])`,
  idempotency_record: `DELETE FROM idempotency_record WHERE id IN (
    SELECT id FROM idempotency_record WHERE conversation_uuid = ANY($1::uuid[]) LIMIT ${most})`,
  run: `DELETE FROM run WHERE uuid IN (
    SELECT uuid FROM run WHERE conversation_uuid = ANY($1::uuid[]) LIMIT ${largeRows}) RETURNING uuid::text AS key`,
  conversation: 'DELETE FROM conversation WHERE uuid = ANY($1::uuid[]) AND deleted_at IS NOT NULL',
}

/** $1 = the project id. */
const belowProject: Record<ProjectTable, string> = {
  idempotency_record: `DELETE FROM idempotency_record WHERE id IN (
    SELECT id FROM idempotency_record WHERE project_id = $1 LIMIT ${most})`,
  evaluation: `DELETE FROM evaluation WHERE id IN (SELECT id FROM evaluation WHERE project_id = $1 LIMIT ${most})`,
  forced_edit: `DELETE FROM forced_edit WHERE id IN (SELECT f.id FROM version v JOIN forced_edit f ON f.version_id = v.id
    WHERE v.project_id = $1 LIMIT ${most})`,
  document: `DELETE FROM document WHERE id IN (SELECT id FROM document WHERE project_id = $1 LIMIT ${most})`,
  version: `DELETE FROM version WHERE id IN (SELECT id FROM version WHERE project_id = $1 LIMIT ${most})`,
  api_key: `DELETE FROM api_key WHERE id IN (SELECT id FROM api_key WHERE project_id = $1 LIMIT ${most})
    RETURNING hash AS key`,
  // Authors are named after keys. An author is deleted after its last key and version.
  author: `DELETE FROM author WHERE id IN (SELECT a.id FROM project p JOIN author a ON a.workspace_id = p.workspace_id
    WHERE p.id = $1 AND NOT EXISTS (SELECT FROM api_key k WHERE k.author_id = a.id)
      AND NOT EXISTS (SELECT FROM version v WHERE v.author_id = a.id) LIMIT ${most})`,
}

export function postgresDeletionStore(session: SqlSession): DeletionStore {
  return { ...hidingOn(session), ...erasuresOn(session), ...purgingOn(session) }
}

function hidingOn(
  session: SqlSession,
): Pick<
  DeletionStore,
  'hideConversation' | 'hideErased' | 'hideOfProject' | 'hideExpired' | 'listLeft' | 'listRetained'
> {
  const hide = async (sql: string, params: readonly unknown[]) => {
    const { rows } = await session.query(sql, params)
    return rows.map((row) => ({ uuid: String(row['uuid']), createdAt: String(row['at']) }))
  }
  const uuidsOf = (places: { uuid: string }[]) => places.map(({ uuid }) => uuid)
  return {
    async hideConversation(workspaceId, uuid) {
      // Waits for a chat that is starting concurrently. The later of the two then fails its condition.
      const { affectedRows } = await session.query(
        `UPDATE conversation c SET deleted_at = now() WHERE c.uuid = $2::uuid AND c.workspace_id = $1 AND ${isEnded}`,
        [workspaceId, uuid],
      )
      return affectedRows === 1
    },
    hideErased: async (erasure, active) =>
      uuidsOf(
        await hide(hiding(`${ofErasure} AND c.uuid <> ALL($5::uuid[])`), [...erasureParams(erasure), [...active]]),
      ),
    hideOfProject: async (projectId) => uuidsOf(await hide(hiding('c.project_id = $1'), [projectId])),
    async hideExpired({ id, days }, after) {
      // A conversation is created before it ends, so the indexed creation time can narrow the search.
      const expired = `c.project_id = $1 AND c.created_at < now() - $2::int * interval '1 day'
        AND c.updated_at < now() - $2::int * interval '1 day'
        AND (c.created_at, c.uuid) > ($3::timestamptz, $4::uuid)`
      const from = after ?? { createdAt: '-infinity', uuid: '00000000-0000-0000-0000-000000000000' }
      const hidden = await hide(hiding(expired, 'ORDER BY c.created_at, c.uuid'), [id, days, from.createdAt, from.uuid])
      return hidden.sort((one, other) => (placeText(one) < placeText(other) ? -1 : 1))
    },
    async listLeft(erasure) {
      const { rows } = await session.query(
        `SELECT c.uuid::text AS uuid FROM conversation c WHERE ${ofErasure} AND c.deleted_at IS NULL`,
        erasureParams(erasure),
      )
      return rows.map((row) => String(row['uuid']))
    },
    async listRetained(serverDays) {
      const { rows } = await session.query(
        `SELECT id, coalesce(retention_days, $1::int) AS days FROM project
         WHERE deleted_at IS NULL AND coalesce(retention_days, $1::int) > 0`,
        [serverDays],
      )
      return rows.map((row) => ({ id: Number(row['id']), days: Number(row['days']) }))
    },
  }
}

function placeText({ createdAt, uuid }: { createdAt: string; uuid: string }): string {
  return `${new Date(createdAt).toISOString()} ${uuid}`
}

function erasuresOn(session: SqlSession): Pick<DeletionStore, 'beginErasure' | 'endErasure' | 'listErasures'> {
  return {
    async beginErasure(erasure) {
      const { rows } = await session.query(
        `INSERT INTO erasure (workspace_id, custom_identifier, created_at, project_id)
         VALUES ($1, $2, $3::timestamptz, $4::int) RETURNING id`,
        erasureParams(erasure),
      )
      return Number(rows[0]?.['id'])
    },
    async endErasure(id) {
      await session.query('DELETE FROM erasure WHERE id = $1', [id])
    },
    async listErasures() {
      const { rows } = await session.query(
        `SELECT id, workspace_id, project_id, custom_identifier, created_at::text AS at FROM erasure ORDER BY id`,
      )
      return rows.map((row) => ({
        id: Number(row['id']),
        workspaceId: Number(row['workspace_id']),
        projectId: row['project_id'] === null ? null : Number(row['project_id']),
        customIdentifier: String(row['custom_identifier']),
        createdAt: new Date(String(row['at'])),
      }))
    },
  }
}

function purgingOn(
  session: SqlSession,
): Pick<
  DeletionStore,
  'listHidden' | 'purgeConversations' | 'listActiveRuns' | 'hasConversations' | 'purgeProject' | 'removeProject'
> {
  const purge = async (sql: string, param: unknown): Promise<PurgedRows> => {
    const { rows, affectedRows } = await session.query(sql, [param])
    return { count: affectedRows, keys: rows.map((row) => String(row['key'])) }
  }
  return {
    async listHidden() {
      const { rows } = await session.query(
        `SELECT uuid::text AS uuid FROM conversation WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT ${largeRows}`,
      )
      return rows.map((row) => String(row['uuid']))
    },
    purgeConversations: (table, uuids) => purge(belowConversations[table], [...uuids]),
    async listActiveRuns(projectId) {
      const { rows } = await session.query(
        `SELECT r.uuid::text AS uuid FROM run r JOIN conversation c ON c.uuid = r.conversation_uuid
         WHERE r.ended_at IS NULL AND r.status IN ('queued', 'running') AND c.project_id = $1`,
        [projectId],
      )
      return rows.map((row) => String(row['uuid']))
    },
    async hasConversations(projectId) {
      const { rows } = await session.query('SELECT 1 FROM conversation WHERE project_id = $1 LIMIT 1', [projectId])
      return rows.length > 0
    },
    purgeProject: (table, projectId) => purge(belowProject[table], projectId),
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
