/** Stores each external log as a conversation without runs, plus a row in `log_entry`. */
import type {
  ExternalLogStore,
  LoggedConversation,
  NewExternalLog,
} from '../../../features/external-logs/external-log.ts'
import { storableJson } from '../../../shared/text-guards.ts'
import type { Database, DatabaseClient } from '../database.ts'
import type { OwnedRow, RowKind } from '../write-batch.ts'
import { conversationPart, conversationRow } from './run-rows.ts'

interface Log extends OwnedRow {
  conversation: LoggedConversation
  entry: NewExternalLog
}

// The conversation has epoch 0, so a chat can start its first run.
const logSql = (messages: string) => `
      WITH input AS (
        SELECT * FROM json_to_recordset($1::json) AS i(
          ${conversationPart.input}, messages json, at timestamptz, version_id int, parameters json, duration int,
          trace text, prompt_span text, completion_span text)
      ), conversations AS (
        INSERT INTO conversation (${conversationPart.columns}, messages, status, epoch, created_at, updated_at)
        SELECT ${conversationPart.values}, ${messages}, 'completed', 0, i.at, i.at FROM input i
      )
      INSERT INTO log_entry (conversation_uuid, version_id, parameters, duration_ms, trace_id, prompt_span_id,
        completion_span_id)
      SELECT uuid, version_id, parameters, duration, trace, prompt_span, completion_span FROM input`

const logs: RowKind<Log> = {
  name: 'log',
  order: 10,
  key: ({ conversation }) => conversation.uuid,
  statement(rows) {
    const [first] = rows
    if (rows.length > 1 || !first) {
      const list = rows.map((log) => ({ ...logRow(log), messages: log.conversation.messages }))
      return { sql: logSql('i.messages'), params: [storableJson(list)] }
    }
    // Large logs are written alone. `json_to_recordset` would copy the messages several times: 27 to 40 ms for 3.8 MB.
    return {
      sql: logSql('$2::json'),
      params: [storableJson([logRow(first)]), storableJson(first.conversation.messages)],
    }
  },
}

function logRow({ conversation, entry }: Log) {
  return {
    ...conversationRow(conversation),
    at: conversation.createdAt.toISOString(),
    version_id: entry.versionId,
    parameters: entry.parameters,
    duration: entry.durationMs,
    trace: entry.promptSpan.traceId,
    prompt_span: entry.promptSpan.id,
    completion_span: entry.completionSpan.id,
  }
}

type ExternalLogDatabase = Pick<Database<unknown>, 'client' | 'writeBatch'>

export function postgresExternalLogStore({ client, writeBatch }: ExternalLogDatabase): ExternalLogStore {
  return externalLogStore(client, (log) => writeBatch.write(logs, log))
}

export function transactionExternalLogStore(client: DatabaseClient): ExternalLogStore {
  return externalLogStore(client, (log) => {
    const { sql, params } = logs.statement([log])
    return client.$executeRawUnsafe(sql, ...params)
  })
}

function externalLogStore(client: DatabaseClient, write: (log: Log) => Promise<unknown>): ExternalLogStore {
  return {
    async create(conversation, entry) {
      await write({ workspaceId: conversation.workspaceId, conversation, entry })
      const where = { conversationUuid: conversation.uuid }
      // `write` does not return the row's id.
      const { id } = await client.logEntry.findUniqueOrThrow({ where, select: { id: true } })
      return id
    },
  }
}
