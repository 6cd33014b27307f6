/** What the loop of each process reads and writes. Its statements do not count as request activity. */
import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import type { ExperimentTexts } from '../../../features/experiments/experiment.ts'
import {
  type EndedRunFacts,
  type ExperimentWorkStore,
  noProgress,
  type Progress,
  type RunningExperiment,
  type WaitingItem,
} from '../../../features/experiments/ports.ts'
import { codeOfItem, nextAttemptsSql, progressSql, runOfItem, runOfStarted, stateOfItem } from './experiment-rows.ts'
import { attemptParams } from './experiment-store.ts'

const runningSql = `
  SELECT e.uuid::text AS uuid, e.workspace_id, e.api_key_id, e.author_id,
    json_build_object('projectId', e.project_id, 'documentUuid', e.document_uuid, 'path', e.path, 'arms', e.arms,
      'evaluationUuids', e.evaluation_uuids, 'judges', e.judges, 'concurrency', e.concurrency,
      'budgetUsd', e.budget_usd)::text AS facts,
    coalesce(a.items, 0) AS active, e.xmin::text AS revision,
    (k.id IS NULL OR k.revoked_at IS NOT NULL OR coalesce(k.expires_at < now(), false)) AS is_key_gone
  FROM experiment e
  LEFT JOIN (
    SELECT i.experiment_id, count(*)::int AS items FROM run r JOIN experiment_item i ON i.conversation_uuid = r.conversation_uuid
    WHERE r.status IN ('queued', 'running') AND r.ended_at IS NULL AND r.via = 'experiment' GROUP BY 1) a ON a.experiment_id = e.id
  JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
  LEFT JOIN api_key k ON k.id = e.api_key_id
  WHERE e.state = 'running' ORDER BY e.id`

const ofExperiment = 'i.experiment_id = (SELECT id FROM experiment WHERE uuid = $1::uuid)'

/** The row as it is now. Null if it was deleted. */
const rowOf = `CASE WHEN x.uuid IS NULL THEN NULL ELSE json_build_object(
    'parameters', x.parameters, 'messages', x.messages, 'toolResults', x.tool_results)::text END AS row`

const waitingSql = `
  SELECT i.uuid::text AS uuid, i.arm, i.trial, i.attempt, i.position, i.example_uuid::text AS "exampleUuid",
    i.row_hash AS "rowHash", i.row_name AS "rowName", i.conversation_uuid::text AS "conversationUuid",
    EXISTS (SELECT FROM conversation c WHERE c.uuid = i.conversation_uuid) AS "hasRun", ${rowOf},
    coalesce(x.custom_identifier, (SELECT c.custom_identifier FROM run s JOIN conversation c ON c.uuid = s.conversation_uuid
      WHERE s.uuid = x.source_run_uuid)) AS "customIdentifier"
  FROM experiment_item i LEFT JOIN example x ON x.uuid = i.example_uuid
  WHERE ${ofExperiment} AND i.position >= $2 AND i.started_at IS NULL AND i.code IS NULL
    AND EXISTS (SELECT FROM experiment e WHERE e.uuid = $1::uuid AND e.state = 'running')
  ORDER BY i.position, i.trial, i.arm LIMIT $3`

/** An item's final state. A rate limit or a dead process is not, before its second attempt. */
const isOver = `${stateOfItem} IN ('ended', 'failed')`

/** $2 = evaluations that score by themselves. */
const lacksScores = `(${isOver} AND r.status IS NOT NULL
    AND (SELECT c.deleted_at IS NULL FROM conversation c WHERE c.uuid = i.conversation_uuid)
    AND (SELECT count(DISTINCT a.evaluation_uuid) FROM annotation a WHERE a.conversation_uuid = i.conversation_uuid
      AND a.source IN ('rule', 'judge') AND a.evaluation_uuid = ANY($2::uuid[])) < cardinality($2::uuid[]))`

const unscoredSql = `
  SELECT i.conversation_uuid::text AS "conversationUuid", i.example_uuid::text AS "exampleUuid"
  FROM experiment_item i ${runOfStarted}
  WHERE ${ofExperiment} AND i.position >= $3 AND ${lacksScores}
  ORDER BY i.position LIMIT $4`

/** Reads up to the first one in the order of the index. */
const firstOpenSql = `
  SELECT i.position FROM experiment_item i ${runOfStarted}
  WHERE ${ofExperiment} AND i.position >= $3 AND (${stateOfItem} IN ('waiting', 'retrying', 'running') OR ${lacksScores})
  ORDER BY i.position LIMIT 1`

const rangeSql = progressSql(`${ofExperiment} AND i.position >= $2 AND i.position < $3`, runOfStarted)

const lastEndsSql = `
  SELECT ${codeOfItem} AS code, (r.result->'error'->'details')::text AS details
  FROM experiment_item i ${runOfStarted}
  WHERE ${ofExperiment} AND r.ended_at IS NOT NULL ORDER BY r.ended_at DESC LIMIT $2`

const activeSql = `
  SELECT i.conversation_uuid::text AS uuid FROM experiment_item i ${runOfItem}
  WHERE ${ofExperiment} AND r.status IN ('queued', 'running')`

const retriesSql = `
  SELECT i.uuid::text AS uuid, i.attempt FROM experiment_item i ${runOfStarted}
  WHERE ${ofExperiment} AND i.position >= $2 AND ${stateOfItem} = 'retrying'
    AND r.ended_at < now() - $3::int * interval '1 millisecond'
  LIMIT 100`

/** Keeps what is counted: figures, states and scores. $1 = experiments. */
const conversationsOf =
  'SELECT unnest(i.other_uuids || i.conversation_uuid) AS uuid FROM experiment_item i WHERE i.experiment_id = $1'

const withoutMessages = `(r.result::jsonb || '{"toolRequests": [], "covers": 0}'::jsonb)`

const dropSql = `
  WITH dropped AS (${conversationsOf}), conversations AS (
    UPDATE conversation c SET messages = '[]' FROM dropped d WHERE c.uuid = d.uuid
  )
  UPDATE run r SET event_log = NULL, parameters = NULL, spans = NULL,
    result = CASE
      WHEN r.result IS NULL THEN NULL
      WHEN (r.result->'response') IS NULL THEN ${withoutMessages}::json
      ELSE (${withoutMessages} || jsonb_build_object('response',
        ((r.result->'response')::jsonb - 'object'::text) || '{"text": "", "toolCalls": []}'::jsonb))::json END
  FROM dropped d WHERE r.conversation_uuid = d.uuid AND r.ended_at IS NOT NULL`

/**
 * Notes the starts that a dead process did not note. Refuses a state of the experiment ($5) or a number of items without a
 * run ($6) that is not the one that was counted. Null skips the check.
 */
const finishSql = `
  WITH item AS (
    SELECT i.uuid, EXISTS (SELECT FROM conversation c WHERE c.uuid = i.conversation_uuid) AS "hasRun"
    FROM experiment_item i WHERE ${ofExperiment} AND i.started_at IS NULL AND i.code IS NULL
  ), noted AS (
    UPDATE experiment_item i SET started_at = now() FROM item u WHERE i.uuid = u.uuid AND u."hasRun" AND i.started_at IS NULL
  )
  UPDATE experiment e SET state = $2, reason = $3, is_stale = is_stale OR $4, finished_at = now()
  WHERE uuid = $1::uuid AND state = 'running' AND ($5::text IS NULL OR (
    e.xmin::text = $5 AND (SELECT count(*) FROM item WHERE NOT "hasRun") = $6::int))`

type List = <Row>(sql: string, params: readonly unknown[]) => Promise<Row[]>

/** How long an item waits for its second attempt. */
const retryAfterMs = 30_000

export function postgresExperimentWorkStore(session: SqlSession): ExperimentWorkStore {
  const list: List = async <Row>(sql: string, params: readonly unknown[]) =>
    (await session.query(sql, [...params])).rows as Row[]
  return {
    async listRunning() {
      const rows = await list<RunningRow>(runningSql, [])
      return rows.map(({ uuid, facts, ...row }) => ({
        ...(JSON.parse(facts) as RunningFacts),
        ...{ uuid, workspaceId: Number(row.workspace_id), apiKeyId: Number(row.api_key_id) },
        ...{
          authorId: Number(row.author_id),
          active: Number(row.active),
          revision: row.revision,
          isKeyGone: row.is_key_gone,
        },
      }))
    },
    async isRunning(uuid) {
      return (await list(`SELECT FROM experiment WHERE uuid = $1::uuid AND state = 'running'`, [uuid])).length > 0
    },
    async findTexts(uuid) {
      const [row] = await list<{ texts: string }>('SELECT texts FROM experiment WHERE uuid = $1::uuid', [uuid])
      return row ? (JSON.parse(row.texts) as ExperimentTexts) : { arms: [], judges: [] }
    },
    async progress(uuid, { from, to }) {
      const [row] = await list<Progress>(rangeSql, [uuid, from, to])
      return row ? numbersIn(row) : noProgress
    },
    async firstOpen(uuid, { evaluationUuids, from }) {
      const [row] = await list<{ position: number }>(firstOpenSql, [uuid, [...evaluationUuids], from])
      return row ? Number(row.position) : null
    },
    async listWaiting(uuid, { from, limit }) {
      const rows = await list<WaitingItem & { row: string | null }>(waitingSql, [uuid, from, limit])
      return rows.map((item) => ({ ...item, startedAt: null, code: null, row: parsed(item.row) }))
    },
    async markStarted(uuids) {
      await session.query(
        `UPDATE experiment_item SET started_at = now() WHERE conversation_uuid = ANY($1::uuid[]) AND started_at IS NULL`,
        [[...uuids]],
      )
    },
    async endItems(uuids, code) {
      await session.query(`UPDATE experiment_item SET code = $2 WHERE uuid = ANY($1::uuid[]) AND started_at IS NULL`, [
        [...uuids],
        code,
      ])
    },
    listRetries: (uuid, from) => list(retriesSql, [uuid, from, retryAfterMs]),
    async nextAttempts(uuid, attempts) {
      await session.query(nextAttemptsSql, attemptParams(uuid, attempts))
    },
    async listActive(uuid) {
      const rows = await list<{ uuid: string }>(activeSql, [uuid])
      return rows.map((row) => row.uuid)
    },
    async listLastEnds(uuid, limit) {
      const rows = await list<{ code: string | null; details: string | null }>(lastEndsSql, [uuid, limit])
      return rows.map(({ code, details }) => ({ code, details: parsed<EndedRunFacts['details']>(details) ?? {} }))
    },
    listUnscored: (uuid, { evaluationUuids, from, limit }) =>
      list(unscoredSql, [uuid, [...evaluationUuids], from, limit]),
    ...endsIn(session, list),
  }
}

/** The end of an experiment, and of its answers. */
function endsIn(session: SqlSession, list: List): Pick<ExperimentWorkStore, 'finish' | 'rowRevision' | 'dropAnswers'> {
  return {
    async finish(uuid, { state, reason, isStale = false }, seen) {
      const counted = seen ? [seen.revision, seen.unstarted] : [null, null]
      return (await session.query(finishSql, [uuid, state, reason, isStale, ...counted])).affectedRows === 1
    },
    async rowRevision(exampleUuid) {
      // Waits for an edit that is not committed yet.
      const sql = 'SELECT xmin::text AS revision FROM example WHERE uuid = $1::uuid FOR SHARE'
      return (await list<{ revision: string }>(sql, [exampleUuid]))[0]?.revision ?? null
    },
    async dropAnswers(days) {
      const { rows } = await session.query(
        `SELECT id FROM experiment WHERE dropped_at IS NULL AND finished_at < now() - $1::int * interval '1 day'
           AND state <> 'running' ORDER BY finished_at LIMIT 1`,
        [days],
      )
      const id = rows[0]?.['id']
      if (id === undefined) return false
      await session.query(dropSql, [id])
      await session.query('UPDATE experiment SET dropped_at = now() WHERE id = $1', [id])
      return true
    },
  }
}

interface RunningRow {
  uuid: string
  workspace_id: number
  api_key_id: number
  author_id: number
  facts: string
  active: number
  revision: string
  is_key_gone: boolean
}

type RunningFacts = Omit<
  RunningExperiment,
  'uuid' | 'workspaceId' | 'apiKeyId' | 'authorId' | 'active' | 'revision' | 'isKeyGone'
>

function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}

/** A driver may return a number as text. */
function numbersIn(row: Progress): Progress {
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value)])) as unknown as Progress
}
