/**
 * Each statement takes its rows as one JSON list. A list that is joined with a table has a condition that every row
 * meets. PostgreSQL then expects few rows and uses the table's index. `IS NOT DISTINCT FROM` on a state or time avoids
 * an index on that column, which would match most of the table.
 */

import type { Claim } from '../../../features/idempotency/ports.ts'
import type { NewConversation, NewQueuedRun, NewRun, RunEnd, RunStart } from '../../../features/runs/ports.ts'
import { charactersIn } from '../../../shared/json-limits.ts'
import { storableJson } from '../../../shared/text-guards.ts'
import { usesReserve } from '../statement-gate.ts'
import type { OwnedRow, RowKind } from '../write-batch.ts'

/** Parts of a statement: fields of the input `i`, columns of the table, and the columns' values. */
export interface RowPart {
  input: string
  columns: string
  values: string
}

export const conversationPart: RowPart = {
  input:
    'uuid uuid, workspace int, project int, version uuid, document uuid, path text, hash text, identifier text, origin text, via text, config json',
  columns:
    'uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, custom_identifier, origin, via, config',
  values:
    'i.uuid, i.workspace, i.project, i.version, i.document, i.path, i.hash, i.identifier, i.origin, i.via, i.config',
}

export function conversationRow(conversation: NewConversation) {
  return {
    uuid: conversation.uuid,
    workspace: conversation.workspaceId,
    project: conversation.projectId,
    version: conversation.versionUuid,
    document: conversation.documentUuid,
    path: conversation.path,
    hash: conversation.contentHash,
    identifier: conversation.customIdentifier,
    origin: conversation.origin,
    via: conversation.via,
    config: conversation.config,
  }
}

export const runStart: RowPart = {
  input:
    'run uuid, owner text, epoch int, first_event int, run_via text, begun timestamptz, mode text, api_key int, author int, parameters text, parameters_state text, request text',
  columns:
    'uuid, conversation_uuid, workspace_id, owner_id, epoch, first_event_id, via, created_at, mode, api_key_id, author_id, parameters, parameters_state, request, project_id, document_uuid, version_uuid',
  values:
    'i.run, i.uuid, i.workspace, i.owner, i.epoch, i.first_event, i.run_via, i.begun, i.mode, i.api_key, i.author, i.parameters, i.parameters_state, i.request',
}

const runEnd = {
  input:
    'status text, messages json, last_event int, error_code text, error_message text, result json, at timestamptz, log_from int, log_bytes int, given_from int, given_count int, provider text, model text, finish_reason text, started timestamptz, first_token_ms int, tokens_in int, tokens_out int, tokens_cached int, cost_nano bigint, estimated boolean, spans text',
  columns:
    'status, last_event_id, error_code, error_message, ended_at, given_from, given_count, provider, model, finish_reason, started_at, first_token_ms, input_tokens, output_tokens, cached_tokens, cost_nano, usage_estimated, spans',
  values:
    'i.status, i.last_event, i.error_code, i.error_message, i.at, i.given_from, i.given_count, i.provider, i.model, i.finish_reason, i.started, i.first_token_ms, i.tokens_in, i.tokens_out, i.tokens_cached, i.cost_nano, i.estimated, i.spans',
} satisfies RowPart

export const idempotencyRecord: RowPart = {
  input: 'claim text, request_hash text, claimant text',
  columns: 'id, request_hash, owner_id, conversation_uuid, run_uuid',
  values: 'i.claim, i.request_hash, i.claimant, i.uuid, i.run',
}

interface FirstRun extends OwnedRow {
  conversation: NewConversation
  run: (NewRun & RunStart) | NewQueuedRun
}

const firstRunInput = `input AS (
        SELECT * FROM json_to_recordset($1::json) AS i(
          ${conversationPart.input}, ${runStart.input}, status text, input text, overrides json, tags json, messages json,
          judged_uuid uuid, ${idempotencyRecord.input})
      )`

/** Apart from the statement of other runs, which need not read a list of tags. */
const insertTags = (source: 'input' | 'accepted') => `tags AS (
        INSERT INTO conversation_tag (project_id, tag, at, conversation_uuid, author_id)
        SELECT i.project, t.tag, i.begun, i.uuid, i.author
        FROM ${source} i CROSS JOIN json_array_elements_text(i.tags) AS t(tag)
      ), `

/**
 * What the statement of a first run does beside its common work. A forked conversation starts with messages, and a
 * judging one is stored only while the conversation that it judges is not deleted.
 */
type FirstRunForm = 'plain' | 'tagged' | 'forked' | 'judging'

const ownColumn = { plain: undefined, tagged: undefined, forked: 'messages', judging: 'judged_uuid' } as const

const insertFirstRuns = (source: 'input' | 'accepted', form: FirstRunForm) => `conversations AS (
        INSERT INTO conversation (${conversationPart.columns}, status, epoch, created_at, updated_at${ownColumn[form] ? `, ${ownColumn[form]}` : ''})
        SELECT ${conversationPart.values}, i.status, i.epoch, i.begun, i.begun${ownColumn[form] ? `, i.${ownColumn[form]}` : ''} FROM ${source} i
      )
      INSERT INTO run (${runStart.columns}, status, input, overrides)
      SELECT ${runStart.values}, i.project, i.document, i.version, i.status, i.input, i.overrides FROM ${source} i`

const firstRunSql = (form: FirstRunForm) =>
  `WITH ${firstRunInput}, ${form === 'tagged' ? insertTags('input') : ''}${insertFirstRuns('input', form)}`

/** A deletion of the judged conversation waits for the lock, so that it also finds this judge. */
const undeletedInput = `, undeleted AS (
    SELECT i.* FROM input i JOIN conversation j ON j.uuid = i.judged_uuid AND j.deleted_at IS NULL FOR SHARE OF j
  )`

const claimedFirstRunSql = (form: FirstRunForm) => `
  WITH ${firstRunInput}${form === 'judging' ? undeletedInput : ''}, records AS (
    INSERT INTO idempotency_record (${idempotencyRecord.columns})
    SELECT ${idempotencyRecord.values} FROM ${form === 'judging' ? 'undeleted' : 'input'} i
    ON CONFLICT (id) DO NOTHING
    RETURNING run_uuid
  ), accepted AS (
    SELECT input.* FROM input JOIN records ON records.run_uuid = input.run
  ), ${form === 'tagged' ? insertTags('accepted') : ''}${insertFirstRuns('accepted', form)}
  RETURNING uuid::text AS key`

const firstRunKind = (name: string, form: FirstRunForm): RowKind<FirstRun> => {
  const sql = firstRunSql(form)
  return {
    name,
    order: 10,
    key: ({ run }) => run.uuid,
    statement: (rows) => ({ sql, params: [storableJson(rows.map(firstRunRow))] }),
  }
}

export const firstRuns = {
  plain: firstRunKind('first-run', 'plain'),
  tagged: firstRunKind('tagged-first-run', 'tagged'),
  forked: firstRunKind('forked-first-run', 'forked'),
}

/** Inserts the conversation, the run and the idempotency record, or nothing if the record exists or the judged answer is deleted. */
const claimedFirstRunKind = (name: string, form: FirstRunForm): RowKind<FirstRun & { claim: Claim }> => {
  const sql = claimedFirstRunSql(form)
  return {
    name,
    order: 10,
    key: ({ run }) => run.uuid,
    statement: (rows) => ({
      sql,
      params: [storableJson(rows.map((row) => ({ ...firstRunRow(row), ...claimRow(row.claim, row.run) })))],
      returnsKeys: true,
    }),
  }
}

export const claimedFirstRuns = {
  plain: claimedFirstRunKind('claimed-first-run', 'plain'),
  tagged: claimedFirstRunKind('tagged-claimed-first-run', 'tagged'),
  forked: claimedFirstRunKind('forked-claimed-first-run', 'forked'),
  judging: claimedFirstRunKind('judging-first-run', 'judging'),
}

// A record with a run needs no owner. It gets an empty one for a queued run, which has no owner yet.
export function claimRow({ id, requestHash }: Claim, run: NewRun | NewQueuedRun) {
  return { claim: id, request_hash: requestHash, claimant: 'ownerId' in run ? run.ownerId : '' }
}

function firstRunRow({ conversation, run }: FirstRun) {
  return {
    ...conversationRow(conversation),
    ...startRow(run),
    overrides: run.overrides,
    tags: run.tags,
    messages: conversation.messages,
    judged_uuid: conversation.judgedUuid,
    ...('ownerId' in run
      ? { owner: run.ownerId, status: 'running' }
      : { input: JSON.stringify(run.input), status: 'queued' }),
  }
}

export function startRow(run: FirstRun['run']) {
  const { uuid, epoch, firstEventId, via, createdAt, mode, apiKeyId, authorId, parameters, request } = run
  return {
    run: uuid,
    epoch,
    first_event: firstEventId,
    run_via: via,
    begun: createdAt.toISOString(),
    mode,
    api_key: apiKeyId,
    author: authorId,
    parameters: parameters.text,
    parameters_state: parameters.state,
    request,
  }
}

export function claimedRow({ uuid, epoch, conversationUuid, workspaceId, ownerId }: NewRun) {
  return { run: uuid, epoch, uuid: conversationUuid, workspace: workspaceId, owner: ownerId, status: 'running' }
}

/** Uses compare-and-set on epoch, state and stop. A repeated claim also wins if the run already has this owner. */
export const queueClaims: RowKind<OwnedRow & { run: NewRun; isRepeat: boolean }> = {
  name: 'queue-claim',
  order: 20,
  key: ({ run }) => run.uuid,
  statement: (rows) => ({
    sql: `
      WITH input AS (
        SELECT * FROM json_to_recordset($1::json) AS i(
          run uuid, uuid uuid, owner text, epoch int, is_repeat boolean, status text)
        WHERE status = 'running'
      ), claimed AS (
        UPDATE run r SET status = 'running', owner_id = i.owner, epoch = i.epoch
        FROM input i
        WHERE r.uuid = i.run AND r.epoch = i.epoch - 1 AND r.status = 'queued' AND r.stop_requested_at IS NULL
        RETURNING r.uuid
      ), conversations AS (
        UPDATE conversation c SET status = 'running', epoch = i.epoch
        FROM input i JOIN claimed ON claimed.uuid = i.run
        WHERE c.uuid = i.uuid
      )
      SELECT uuid::text AS key FROM claimed
      UNION ALL
      SELECT r.uuid::text FROM run r JOIN input i ON r.uuid = i.run AND r.epoch = i.epoch AND r.owner_id = i.owner
      WHERE i.is_repeat AND r.status = 'running'`,
    params: [storableJson(rows.map(({ run, isRepeat }) => ({ ...claimedRow(run), is_repeat: isRepeat })))],
    returnsKeys: true,
  }),
}

export const stops: RowKind<OwnedRow & { runUuid: string }> = {
  name: 'run-stop',
  order: 25,
  key: ({ runUuid }) => runUuid,
  statement: (rows) => ({
    sql: usesReserve(`
      UPDATE run SET stop_requested_at = now()
      WHERE uuid IN (SELECT jsonb_array_elements_text($1::jsonb)::uuid)
        AND status IN ('queued', 'running') AND stop_requested_at IS NULL
      RETURNING uuid::text AS key`),
    params: [JSON.stringify(rows.map(({ runUuid }) => runUuid))],
    returnsKeys: true,
  }),
}

const figureColumns =
  'r.project_id, r.document_uuid, r.version_uuid, r.model, r.via, r.first_token_ms, r.input_tokens, r.output_tokens, r.cached_tokens, r.cost_nano, r.usage_estimated'

/** The largest `int` of PostgreSQL. Providers may send any count. */
const maxInt = 2_147_483_647

const endSql = (isAlone: boolean) =>
  usesReserve(`
  WITH input AS (
    SELECT i.*, substring($2::bytea FROM i.log_from FOR i.log_bytes) AS log FROM json_to_recordset($1::json) AS i(
      run uuid, uuid uuid, epoch int, epoch_after int, from_status text, ${runEnd.input})
    WHERE from_status IN ('queued', 'running')
  ), ended AS (
    UPDATE run r SET (${runEnd.columns}, result, event_log, input) = (
      ${runEnd.values}, ${isAlone ? '$4::json' : 'i.result'}, i.log, NULL)
    FROM input i
    WHERE r.uuid = i.run AND r.epoch = i.epoch AND r.status IS NOT DISTINCT FROM i.from_status
    RETURNING i.run, i.uuid, i.status, i.messages, i.last_event, i.epoch_after, i.at, ${figureColumns}, r.created_at
  ), figures AS (
    INSERT INTO run_figure (run_uuid, at, status, duration_ms, ${figureColumns.replaceAll('r.', '')})
    SELECT e.run, now(), e.status, least(greatest(extract(epoch FROM e.at - e.created_at) * 1000, 0), ${maxInt}),
      ${figureColumns.replaceAll('r.', 'e.')}
    FROM ended e
  ), conversations AS (
    UPDATE conversation c SET status = e.status, messages = ${isAlone ? '$3::json' : 'e.messages'},
      last_event_id = e.last_event, epoch = e.epoch_after, updated_at = e.at
    FROM ended e
    WHERE c.uuid = e.uuid
  )
  SELECT run::text AS key FROM ended
  UNION ALL
  SELECT r.uuid::text FROM run r JOIN input i ON r.uuid = i.run AND r.epoch = i.epoch
  WHERE r.ended_at IS NOT DISTINCT FROM i.at AND r.last_event_id = i.last_event
    AND i.from_status = 'running' AND i.epoch_after = i.epoch`)

const endsSql = endSql(false)
const endAloneSql = endSql(true)

const largeCharacters = 1_048_576

/**
 * Uses compare-and-set on run, epoch and state. An owner's repeated end also wins if the row has the same end time and
 * last event. A reaper's repeated end never wins, because two reapers may use the same millisecond.
 */
export const ends: RowKind<RunEnd> = {
  name: 'run-end',
  order: 30,
  key: (end) => end.runUuid,
  statement(rows) {
    const [first] = rows
    // PostgreSQL copies a JSON list several times, so a single end with large messages uses separate parameters.
    const alone =
      rows.length === 1 && first && charactersIn(first.messages, largeCharacters) > largeCharacters ? first : undefined
    // All event logs are one parameter with 1-based offsets. The query plan is then the same for any number of rows.
    const logs: Uint8Array[] = []
    const list: object[] = []
    let logFrom = 1
    for (const end of rows) {
      const { eventLog, messages, result, figures } = end
      const { inputTokens, outputTokens, cachedInputTokens } = result.tokenUsage
      logs.push(eventLog)
      list.push({
        run: end.runUuid,
        uuid: end.conversationUuid,
        epoch: end.epoch,
        epoch_after: end.epochAfter,
        status: end.status,
        last_event: end.lastEventId,
        error_code: result.error?.code ?? null,
        error_message: result.error?.message ?? null,
        at: end.endedAt.toISOString(),
        from_status: end.from,
        log_from: logFrom,
        log_bytes: eventLog.length,
        given_from: figures.givenFrom,
        given_count: figures.givenCount,
        provider: figures.provider,
        model: figures.model,
        finish_reason: figures.finishReason,
        started: figures.startedAt,
        first_token_ms: figures.firstTokenMs === null ? null : Math.min(figures.firstTokenMs, maxInt),
        tokens_in: Math.min(inputTokens, maxInt),
        tokens_out: Math.min(outputTokens, maxInt),
        tokens_cached: Math.min(cachedInputTokens, maxInt),
        cost_nano: result.costUnknown ? null : Math.min(Math.round(result.cost * 1e9), Number.MAX_SAFE_INTEGER),
        estimated: figures.isUsageEstimated,
        spans: figures.spans,
        ...(alone ? {} : { messages, result }),
      })
      logFrom += eventLog.length
    }
    const params = [storableJson(list), Buffer.concat(logs)]
    if (!alone) return { sql: endsSql, params, returnsKeys: true }
    const large = [storableJson(alone.messages), storableJson(alone.result)]
    return { sql: endAloneSql, params: [...params, ...large], returnsKeys: true }
  },
}
