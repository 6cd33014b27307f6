import type { GivenAnswer, NewToolCall, ToolCallState, ToolCallStore } from '../../../features/runs/tools/tool.ts'
import { storableJson } from '../../../shared/text-guards.ts'
import type { Database } from '../database.ts'
import { usesReserve } from '../statement-gate.ts'
import type { RowKind } from '../write-batch.ts'

const state = { waiting: 'waiting', answered: 'answered', closed: 'closed' } as const satisfies Record<
  ToolCallState,
  ToolCallState
>

type ToolCallDatabase = Pick<Database<unknown>, 'client' | 'ownSession' | 'writeBatch'>

export function postgresToolCallStore({ client, ownSession, writeBatch }: ToolCallDatabase): ToolCallStore {
  return {
    async issue(calls) {
      await writeBatch.writeTogether(issues, calls)
    },
    answer: (answer) => writeBatch.write(answers, answer),
    close: (call) => writeBatch.write(closings, call),
    async findAnswer(workspaceId, id) {
      const found = await client.toolCall.findFirst({
        where: { workspaceId, id, state: state.answered },
        select: { result: true, isError: true },
      })
      return found && { result: JSON.parse(found.result ?? 'null'), isError: found.isError }
    },
    async findProject(workspaceId, id) {
      // PostgreSQL rejects NUL in text. An issued id never contains NUL.
      if (id.includes('\0')) return null
      const where = { workspaceId, id, run: { conversation: { deletedAt: null } } }
      const found = await client.toolCall.findFirst({ where, select: { projectId: true } })
      return found?.projectId ?? null
    },
    async dropAnswers(from, before) {
      const { affectedRows } = await ownSession.query(
        `UPDATE tool_call SET result = NULL WHERE id IN (
           SELECT t.id FROM tool_call t JOIN run r ON r.uuid = t.run_uuid
           WHERE r.ended_at >= $1::timestamptz AND r.ended_at < $2::timestamptz AND t.result IS NOT NULL LIMIT 500)`,
        [from.toISOString(), before.toISOString()],
      )
      return affectedRows
    },
  }
}

const issues: RowKind<NewToolCall> = {
  name: 'tool-call',
  // Above the orders of the run inserts, because each row references its run.
  order: 22,
  key: (call) => call.id,
  statement: (rows) => ({
    sql: usesReserve(`
      INSERT INTO tool_call (id, workspace_id, project_id, run_uuid, state, created_at)
      SELECT id, workspace, project, run, state, at FROM jsonb_to_recordset($1::jsonb) AS i(
        id text, workspace int, project int, run uuid, state text, at timestamptz)`),
    params: [
      storableJson(
        rows.map((call) => ({
          id: call.id,
          workspace: call.workspaceId,
          project: call.projectId,
          run: call.runUuid,
          state: call.isWaiting ? state.waiting : state.closed,
          at: call.createdAt.toISOString(),
        })),
      ),
    ],
  }),
}

const answers: RowKind<GivenAnswer> = {
  name: 'tool-answer',
  order: 24,
  key: (answer) => answer.id,
  statement: (rows) => ({
    sql: usesReserve(`
      UPDATE tool_call t SET state = '${state.answered}', result = i.result,
        is_error = i.error, answered_at = i.at
      FROM jsonb_to_recordset($1::jsonb) AS i(id text, workspace int, result text, error boolean, at timestamptz), run r
      WHERE t.id = i.id AND t.workspace_id = i.workspace AND t.state = '${state.waiting}'
        AND r.uuid = t.run_uuid AND r.status = 'running'
      RETURNING t.id AS key`),
    params: [
      storableJson(
        rows.map((answer) => ({
          id: answer.id,
          workspace: answer.workspaceId,
          result: storableJson(answer.result),
          error: answer.isError,
          at: answer.answeredAt.toISOString(),
        })),
      ),
    ],
    returnsKeys: true,
  }),
}

const closings: RowKind<{ id: string; workspaceId: number }> = {
  name: 'tool-closing',
  order: 26,
  key: (call) => call.id,
  statement: (rows) => ({
    sql: usesReserve(`
      UPDATE tool_call t SET state = '${state.closed}'
      FROM jsonb_to_recordset($1::jsonb) AS i(id text, workspace int)
      WHERE t.id = i.id AND t.workspace_id = i.workspace AND t.state = '${state.waiting}'
      RETURNING t.id AS key`),
    params: [storableJson(rows.map(({ id, workspaceId }) => ({ id, workspace: workspaceId })))],
    returnsKeys: true,
  }),
}
