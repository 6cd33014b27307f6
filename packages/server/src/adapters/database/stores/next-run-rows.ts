/** Starts or queues a conversation's next run. */

import type { Message } from '@stet/contract/vocabulary'
import type { Claim } from '../../../features/idempotency/ports.ts'
import type { NewQueuedRun, NewRun, RunStart } from '../../../features/runs/ports.ts'
import { storableJson } from '../../../shared/text-guards.ts'
import type { OwnedRow, RowKind } from '../write-batch.ts'
import { claimedRow, claimRow, idempotencyRecord, runStart, startRow } from './run-rows.ts'

interface NextRun extends OwnedRow {
  run: (NewRun & RunStart) | NewQueuedRun
  added: readonly Message[]
  /** If set, the run starts only if its idempotency record does not exist. The record is stored with the run. */
  claim?: Claim
}

const nextRunSql = (status: 'running' | 'queued') => `
      WITH input AS (
        SELECT * FROM json_to_recordset($1::json) AS i(
          uuid uuid, workspace int, ${runStart.input}, status text${status === 'queued' ? ', input text' : ''}, added json,
          ${idempotencyRecord.input})
        WHERE status = '${status}'
      ), claimed AS (
        UPDATE conversation c SET epoch = i.epoch, status = '${status}', updated_at = i.begun,
          messages = CASE WHEN json_array_length(c.messages) = 0 THEN i.added
            ELSE (left(c.messages::text, -1) || ',' || substr(i.added::text, 2))::json END
        FROM input i
        WHERE c.uuid = i.uuid AND c.workspace_id = i.workspace AND c.epoch = i.epoch - 1
          AND c.status NOT IN ('queued', 'running') AND c.deleted_at IS NULL
          AND NOT EXISTS (SELECT FROM idempotency_record r WHERE r.id = i.claim)
        RETURNING c.uuid, c.project_id, c.document_uuid, c.version_uuid
      ), records AS (
        INSERT INTO idempotency_record (${idempotencyRecord.columns})
        SELECT ${idempotencyRecord.values}
        FROM input i JOIN claimed ON claimed.uuid = i.uuid WHERE i.claim IS NOT NULL
      )
      INSERT INTO run (${runStart.columns}, status, overrides${status === 'queued' ? ', input' : ''})
      SELECT ${runStart.values}, claimed.project_id, claimed.document_uuid, claimed.version_uuid, '${status}',
        (SELECT r.overrides FROM run r WHERE r.conversation_uuid = claimed.uuid ORDER BY r.created_at LIMIT 1)${status === 'queued' ? ', i.input' : ''}
      FROM input i JOIN claimed ON claimed.uuid = i.uuid
      RETURNING conversation_uuid::text AS key`

const nextRunKind = (name: string, status: 'running' | 'queued'): RowKind<NextRun> => {
  const sql = nextRunSql(status)
  return {
    name,
    order: 20,
    key: ({ run }) => run.conversationUuid,
    statement: (rows) => ({ sql, params: [storableJson(rows.map(nextRunRow))], returnsKeys: true }),
  }
}

function nextRunRow({ run, added, claim }: NextRun) {
  return {
    ...startRow(run),
    ...('ownerId' in run ? claimedRow(run) : queuedRow(run)),
    added,
    ...(claim && claimRow(claim, run)),
  }
}

/** Creates a conversation's next run by compare-and-set on epoch and state. Only one concurrent request wins. */
export const nextRuns = {
  started: nextRunKind('next-run', 'running'),
  queued: nextRunKind('next-queued-run', 'queued'),
}

function queuedRow({ conversationUuid, workspaceId, input }: NewQueuedRun) {
  return { uuid: conversationUuid, workspace: workspaceId, input: JSON.stringify(input), status: 'queued' }
}
