/**
 * The batched statements of runs: each takes any number of rows as one JSON list. A condition that every row meets
 * stands at the list where it is joined: PostgreSQL then expects one row, not a hundred, and looks the others up by
 * index. Comparisons of states and times are written so that no index serves them: those would find most of the table.
 */
import type { Claim } from '../../../features/idempotency/claim.ts'
import type { NewConversation, NewQueuedRun, NewRun, RunEnd } from '../../../features/runs/ports.ts'
import type { Message } from '../../../features/templates/message.ts'
import { storableJson } from '../../../shared/storable-json.ts'
import type { RowKind } from '../write-batch.ts'

interface FirstRun {
  conversation: NewConversation
  /** Driven here, or queued. */
  run: NewRun | NewQueuedRun
}

/** A conversation with its first run. */
export const firstRuns: RowKind<FirstRun> = {
  name: 'first-run',
  order: 10,
  key: ({ run }) => run.uuid,
  statement: (rows) => ({
    sql: `WITH ${firstRunInput}, ${insertFirstRuns('input')}`,
    params: [storableJson(rows.map(firstRunRow))],
  }),
}

/** The same for a request with an idempotency key: run and record, or neither when the key was used before. */
export const claimedFirstRuns: RowKind<FirstRun & { claim: Claim }> = {
  name: 'claimed-first-run',
  order: 10,
  key: ({ run }) => run.uuid,
  statement: (rows) => ({
    sql: `
      WITH ${firstRunInput}, records AS (
        INSERT INTO idempotency_record (id, request_hash, owner_id, conversation_uuid, run_uuid)
        SELECT claim, request_hash, claimant, uuid, run FROM input
        ON CONFLICT (id) DO NOTHING
        RETURNING run_uuid
      ), accepted AS (
        SELECT input.* FROM input JOIN records ON records.run_uuid = input.run
      ), ${insertFirstRuns('accepted')}
      RETURNING uuid::text AS key`,
    params: [storableJson(rows.map((row) => ({ ...firstRunRow(row), ...claimRow(row.claim, row.run) })))],
    returnsKeys: true,
  }),
}

const firstRunInput = `input AS (
        SELECT * FROM json_to_recordset($1::json) AS i(
          uuid uuid, run uuid, workspace int, project int, version uuid, document uuid, path text, hash text,
          identifier text, origin text, config json, owner text, epoch int, first_event int, at timestamptz,
          status text, input text, queued_by int, claim text, request_hash text, claimant text)
      )`

const insertFirstRuns = (source: string) => `conversations AS (
        INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash,
          custom_identifier, origin, config, status, epoch, created_at, updated_at)
        SELECT uuid, workspace, project, version, document, path, hash, identifier, origin, config, status, epoch, at, at
        FROM ${source}
      )
      INSERT INTO run (uuid, conversation_uuid, workspace_id, owner_id, epoch, status, first_event_id, created_at,
        input, queued_by)
      SELECT run, uuid, workspace, owner, epoch, status, first_event, at, input, queued_by FROM ${source}`

// With its run a record needs no owner that finishes it: the queue's own rows have none.
function claimRow({ id, requestHash }: Claim, run: NewRun | NewQueuedRun) {
  return { claim: id, request_hash: requestHash, claimant: 'ownerId' in run ? run.ownerId : '' }
}

function firstRunRow({ conversation, run }: FirstRun) {
  return {
    ...conversationRow(conversation),
    run: run.uuid,
    epoch: run.epoch,
    first_event: run.firstEventId,
    at: run.createdAt.toISOString(),
    ...('ownerId' in run
      ? { owner: run.ownerId, status: 'running' }
      : { input: JSON.stringify(run.input), queued_by: run.apiKeyId, status: 'queued' }),
  }
}

/** What a conversation is from its first moment on, by the names of the statements. */
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
    config: conversation.config,
  }
}

interface NextRun {
  run: NewRun
  /** The messages that it begins with. */
  added: readonly Message[]
  /** The request came with an idempotency key: the run starts, and leaves its record, if the key was never used. */
  claim?: Claim
}

/** The next run of a conversation with its new messages, by compare-and-set on its epoch. One of several wins. */
export const nextRuns: RowKind<NextRun> = {
  name: 'next-run',
  order: 20,
  key: ({ run }) => run.conversationUuid,
  statement: (rows) => ({
    sql: `
      WITH input AS (
        SELECT * FROM json_to_recordset($1::json) AS i(
          run uuid, uuid uuid, workspace int, owner text, epoch int, first_event int, at timestamptz, status text,
          added json, claim text, request_hash text, claimant text)
        WHERE status = 'running'
      ), claimed AS (
        UPDATE conversation c SET epoch = i.epoch, status = 'running', updated_at = i.at,
          messages = CASE WHEN json_array_length(c.messages) = 0 THEN i.added
            ELSE (left(c.messages::text, -1) || ',' || substr(i.added::text, 2))::json END
        FROM input i
        WHERE c.uuid = i.uuid AND c.workspace_id = i.workspace AND c.epoch = i.epoch - 1
          AND c.status NOT IN ('queued', 'running')
          AND NOT EXISTS (SELECT FROM idempotency_record r WHERE r.id = i.claim)
        RETURNING c.uuid
      ), records AS (
        INSERT INTO idempotency_record (id, request_hash, owner_id, conversation_uuid, run_uuid)
        SELECT i.claim, i.request_hash, i.claimant, i.uuid, i.run
        FROM input i JOIN claimed ON claimed.uuid = i.uuid WHERE i.claim IS NOT NULL
      )
      INSERT INTO run (uuid, conversation_uuid, workspace_id, owner_id, epoch, status, first_event_id, created_at)
      SELECT i.run, i.uuid, i.workspace, i.owner, i.epoch, 'running', i.first_event, i.at
      FROM input i JOIN claimed ON claimed.uuid = i.uuid
      RETURNING conversation_uuid::text AS key`,
    params: [
      storableJson(
        rows.map(({ run, added, claim }) => ({ ...nextRunRow(run), added, ...(claim && claimRow(claim, run)) })),
      ),
    ],
    returnsKeys: true,
  }),
}

function nextRunRow(run: NewRun) {
  return {
    run: run.uuid,
    uuid: run.conversationUuid,
    workspace: run.workspaceId,
    owner: run.ownerId,
    epoch: run.epoch,
    first_event: run.firstEventId,
    at: run.createdAt.toISOString(),
    status: 'running',
  }
}

/**
 * Takes queued runs out of the queue, by compare-and-set on epoch, state and stop. A repeat of a claim whose
 * acknowledgement was lost wins too: it finds itself as the owner.
 */
export const queueClaims: RowKind<{ run: NewRun; isRepeat: boolean }> = {
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
        UPDATE run r SET status = 'running', owner_id = i.owner, epoch = i.epoch, input = NULL
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
    params: [storableJson(rows.map(({ run, isRepeat }) => ({ ...nextRunRow(run), is_repeat: isRepeat })))],
    returnsKeys: true,
  }),
}

/** Records stops; the first of a run wins. */
export const stops: RowKind<{ runUuid: string }> = {
  name: 'run-stop',
  order: 25,
  key: ({ runUuid }) => runUuid,
  statement: (rows) => ({
    sql: `
      UPDATE run SET stop_requested_at = now()
      WHERE uuid IN (SELECT jsonb_array_elements_text($1::jsonb)::uuid)
        AND status IN ('queued', 'running') AND stop_requested_at IS NULL
      RETURNING uuid::text AS key`,
    params: [JSON.stringify(rows.map(({ runUuid }) => runUuid))],
    returnsKeys: true,
  }),
}

/**
 * The end of a run with all that it left, by compare-and-set on run, epoch and state. An owner that repeats an end whose
 * acknowledgement was lost wins too: it finds its own time. Reapers do not: two of them may share a millisecond.
 */
export const ends: RowKind<RunEnd> = {
  name: 'run-end',
  order: 30,
  key: (end) => end.runUuid,
  statement: (rows) => ({
    sql: `
      WITH input AS (
        SELECT i.*, substring($2::bytea FROM log_from FOR log_bytes) AS log FROM json_to_recordset($1::json) AS i(
          run uuid, uuid uuid, epoch int, epoch_after int, status text, messages json, last_event int,
          error_code text, error_message text, result json, at timestamptz, from_status text,
          log_from int, log_bytes int)
        WHERE from_status IN ('queued', 'running')
      ), ended AS (
        UPDATE run r SET status = i.status, last_event_id = i.last_event, error_code = i.error_code,
          error_message = i.error_message, result = i.result, event_log = i.log, ended_at = i.at, input = NULL
        FROM input i
        WHERE r.uuid = i.run AND r.epoch = i.epoch AND r.status IS NOT DISTINCT FROM i.from_status
        RETURNING i.run, i.uuid, i.status, i.messages, i.last_event, i.epoch_after, i.at
      ), conversations AS (
        UPDATE conversation c SET status = e.status, messages = e.messages, last_event_id = e.last_event,
          epoch = e.epoch_after, updated_at = e.at
        FROM ended e
        WHERE c.uuid = e.uuid
      )
      SELECT run::text AS key FROM ended
      UNION ALL
      SELECT r.uuid::text FROM run r JOIN input i ON r.uuid = i.run AND r.epoch = i.epoch
      WHERE r.ended_at IS NOT DISTINCT FROM i.at AND r.last_event_id = i.last_event
        AND i.from_status = 'running' AND i.epoch_after = i.epoch`,
    params: [storableJson(endRows(rows)), Buffer.concat(rows.map((end) => end.eventLog))],
    returnsKeys: true,
  }),
}

// All event logs are one parameter, so that the statement is the same for any number of rows and its plan is kept.
function endRows(ends: readonly RunEnd[]) {
  let from = 1
  return ends.map((end) => {
    const place = { log_from: from, log_bytes: end.eventLog.length }
    from += end.eventLog.length
    return { ...endRow(end), ...place }
  })
}

function endRow(end: RunEnd) {
  return {
    run: end.runUuid,
    uuid: end.conversationUuid,
    epoch: end.epoch,
    epoch_after: end.epochAfter,
    status: end.status,
    messages: end.messages,
    last_event: end.lastEventId,
    error_code: end.result.error?.code ?? null,
    error_message: end.result.error?.message ?? null,
    result: end.result,
    at: end.endedAt.toISOString(),
    from_status: end.from,
  }
}
