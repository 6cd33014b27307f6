/** Statements about the items of experiments. An item's state, answer, cost and time are those of its run. */

const runIf = (condition: string) => `LEFT JOIN LATERAL (
    SELECT r.uuid, r.status, r.error_code, r.result, r.cost_nano, r.created_at, r.started_at, r.ended_at FROM run r
    WHERE r.conversation_uuid = i.conversation_uuid ${condition} ORDER BY r.created_at, r.epoch LIMIT 1) r ON true`

/**
 * The first run of an item's conversation. A chat that continues it is another run. Its `state` is one of the item's:
 * `retrying` counts as waiting, because the attempt is not the last one.
 */
export const runOfItem = runIf('')

/** Looks for no run of an item whose start is not noted, so that items which wait cost little. */
export const runOfStarted = runIf('AND i.started_at IS NOT NULL')

/** Failures that pass by themselves. They get one more attempt. */
const isRetrying = `(NOT i.is_retry AND r.status = 'error' AND r.error_code IN ('rate_limit_error', 'worker_lost'))`

export const stateOfItem = `CASE
    WHEN i.code IS NOT NULL THEN i.code
    WHEN r.status IS NULL AND i.started_at IS NULL THEN 'waiting'
    WHEN r.status IS NULL THEN 'failed'
    WHEN r.status IN ('queued', 'running') THEN 'running'
    WHEN r.status = 'completed' THEN 'ended'
    WHEN ${isRetrying} THEN 'retrying'
    ELSE 'failed' END`

/** In USD. A run without a known price counts with what is known of it. */
export const costOfRun = `coalesce(r.cost_nano::float8 / 1e9, (r.result->>'cost')::float8)`

/** Of a run that ended. Its text is what the model answered last; open tool requests have no answer yet. */
export const codeOfItem = `CASE
    WHEN i.code IS NOT NULL THEN i.code
    WHEN r.status IS NULL AND i.started_at IS NOT NULL THEN 'deleted'
    WHEN r.status = 'stopped' THEN coalesce(r.error_code, 'abort_error')
    WHEN r.status = 'error' THEN coalesce(r.error_code, 'unknown_error')
    WHEN r.status = 'completed' AND json_array_length(r.result->'toolRequests') > 0 THEN 'open-tool-call' END`

/** @param items A condition that selects the items. A run's cost and those of earlier attempts and of judges are counted once. */
export const progressSql = (items: string, run = runOfItem) => `
  WITH item AS (
    SELECT i.experiment_id, i.other_uuids, ${stateOfItem} AS state, ${costOfRun} AS usd
    FROM experiment_item i ${run}
    WHERE ${items}
  ), cost AS (
    SELECT o.experiment_id, sum(${costOfRun}) AS usd
    FROM (SELECT experiment_id, unnest(other_uuids) AS uuid FROM item) o
    JOIN run r ON r.conversation_uuid = o.uuid AND r.via IN ('experiment', 'judge')
    GROUP BY 1
  )
  SELECT i.experiment_id AS id, count(*)::int AS total,
    count(*) FILTER (WHERE state IN ('waiting', 'retrying'))::int AS waiting,
    count(*) FILTER (WHERE state = 'retrying')::int AS retrying,
    count(*) FILTER (WHERE state = 'running')::int AS running,
    count(*) FILTER (WHERE state = 'ended')::int AS ended,
    count(*) FILTER (WHERE state NOT IN ('waiting', 'retrying', 'running', 'ended'))::int AS failed,
    coalesce(sum(i.usd), 0)::float8
      + coalesce((SELECT usd FROM cost c WHERE c.experiment_id = i.experiment_id), 0)::float8 AS "costUsd"
  FROM item i GROUP BY 1`

/**
 * Keeps the conversation even if its start was not noted: a process may have died after it stored the run.
 * $1 = the experiment, $2 = items, $3 = attempts, $4 = the conversations of the next ones, $5 = is it a retry, $6, $7 = the row.
 */
export const nextAttemptsSql = `
  UPDATE experiment_item i SET attempt = i.attempt + 1, is_retry = u.is_retry, started_at = NULL, code = NULL,
    other_uuids = i.other_uuids || i.conversation_uuid, conversation_uuid = u.conversation, row_hash = coalesce(u.row_hash, i.row_hash), row_name = coalesce(u.row_name, i.row_name)
  FROM unnest($2::uuid[], $3::int[], $4::uuid[], $5::boolean[], $6::text[], $7::text[])
    AS u(item, attempt, conversation, is_retry, row_hash, row_name)
  WHERE i.uuid = u.item AND i.attempt = u.attempt
    AND i.experiment_id = (SELECT id FROM experiment WHERE uuid = $1::uuid)`

/** $1 = the workspace, $2 = the project, $3 = rows, $4 = sources. An answer that was dropped could not be scored again. */
export const dropScoresSql = `
  DELETE FROM annotation a USING (
    SELECT i.conversation_uuid FROM experiment_item i JOIN experiment e ON e.id = i.experiment_id ${runOfItem}
    WHERE e.workspace_id = $1 AND e.project_id = $2 AND e.dropped_at IS NULL AND i.example_uuid = ANY($3::uuid[])
      AND (r.result->>'covers') IS DISTINCT FROM '0') item
  WHERE a.workspace_id = $1 AND a.conversation_uuid = item.conversation_uuid AND a.source = ANY($4::text[])`

/**
 * Reopens the newest experiment of each row, if it has completed. A resumed one with the same arms and rows may be running.
 * All running experiments are updated too, so that their revisions change.
 */
export const reopenSql = `
  WITH found AS (
    SELECT n.id, n.state, n.id = max(n.id) OVER (PARTITION BY i.example_uuid) AS is_newest
    FROM experiment n JOIN experiment_item i ON i.experiment_id = n.id
    WHERE n.workspace_id = $1 AND n.project_id = $2 AND n.dropped_at IS NULL AND n.state IN ('running', 'completed')
      AND i.example_uuid = ANY($3::uuid[]))
  UPDATE experiment e SET state = 'running', finished_at = NULL
  WHERE e.state IN ('running', 'completed') AND e.id IN (SELECT id FROM found WHERE state = 'running' OR is_newest)
  AND NOT EXISTS (
    SELECT FROM experiment o WHERE o.id <> e.id AND o.project_id = e.project_id AND o.document_uuid = e.document_uuid
      AND o.content_key = e.content_key AND o.state = 'running')`
