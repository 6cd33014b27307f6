/** Many conversations in the database, read by place: no page is found by counting the ones before it. */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { StoredSummary } from '../../../features/conversations/conversation.ts'
import type { ConversationFilter, ConversationPlace, ConversationStore } from '../../../features/conversations/ports.ts'
import type { DatabaseClient } from '../database.ts'

type SummaryRow = Omit<StoredSummary, 'latestRun'> & {
  runUuid: string | null
  endedAt: Date | null
  result: NonNullable<StoredSummary['latestRun']>['result']
}

// A result holds the whole answer, which lists do not show.
const columns = Prisma.sql`
  c.uuid::text AS uuid, c.workspace_id AS "workspaceId", c.project_id AS "projectId",
  c.version_uuid::text AS "versionUuid", c.document_uuid::text AS "documentUuid", c.path,
  c.content_hash AS "contentHash", c.custom_identifier AS "customIdentifier", c.origin, c.status,
  c.created_at AS "createdAt", c.updated_at AS "updatedAt",
  r.uuid::text AS "runUuid", r.ended_at AS "endedAt", r.result::jsonb - 'response' AS result`

const latestRun = Prisma.sql`
  LEFT JOIN LATERAL (
    SELECT * FROM run WHERE run.conversation_uuid = c.uuid ORDER BY run.epoch DESC LIMIT 1
  ) r ON true`

export function postgresConversationStore(client: DatabaseClient): ConversationStore {
  return {
    async list(workspaceId, filter, { after, limit }) {
      const conditions = [
        Prisma.sql`c.workspace_id = ${workspaceId} AND c.deleted_at IS NULL`,
        ...filtered(filter),
        ...(after ? [older(after)] : []),
      ]
      const rows = await client.$queryRaw<SummaryRow[]>`
        SELECT ${columns} FROM conversation c ${latestRun} WHERE ${Prisma.join(conditions, ' AND ')}
        ORDER BY c.created_at DESC, c.uuid DESC LIMIT ${limit}`
      return rows.map(toSummary)
    },
  }
}

function older({ createdAt, uuid }: ConversationPlace): Prisma.Sql {
  return Prisma.sql`(c.created_at, c.uuid) < (${createdAt}::timestamptz, ${uuid}::uuid)`
}

function filtered(filter: ConversationFilter): Prisma.Sql[] {
  const { projectId, versionUuid, documentUuid, path, status, origin, customIdentifier, from, to } = filter
  const { hiddenProjects = [] } = filter
  const conditions = [
    projectId === undefined ? undefined : Prisma.sql`c.project_id = ${projectId}`,
    hiddenProjects.length === 0 ? undefined : Prisma.sql`c.project_id NOT IN (${Prisma.join(hiddenProjects)})`,
    versionUuid === undefined ? undefined : Prisma.sql`c.version_uuid = ${versionUuid}::uuid`,
    documentUuid === undefined ? undefined : Prisma.sql`c.document_uuid = ${documentUuid}::uuid`,
    path === undefined ? undefined : Prisma.sql`c.path = ${path}`,
    status === undefined ? undefined : Prisma.sql`c.status = ${status}`,
    origin === undefined ? undefined : Prisma.sql`c.origin = ${origin}`,
    customIdentifier === undefined ? undefined : Prisma.sql`c.custom_identifier = ${customIdentifier}`,
    from === undefined ? undefined : Prisma.sql`c.created_at >= ${from}::timestamptz`,
    to === undefined ? undefined : Prisma.sql`c.created_at <= ${to}::timestamptz`,
  ]
  return conditions.filter((condition) => condition !== undefined)
}

function toSummary({ runUuid, endedAt, result, ...row }: SummaryRow): StoredSummary {
  return { ...row, latestRun: runUuid === null ? null : { endedAt, result } }
}
