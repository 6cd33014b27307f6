import { Prisma } from '../../../../generated/prisma/client.ts'
import type {
  ConversationPlace,
  RecordedRun,
  RunDetails,
  RunFilter,
  RunRecordStore,
} from '../../../features/conversations/ports.ts'
import { runScan } from '../../../features/conversations/ports.ts'
import type { RunStatus } from '../../../features/runs/run.ts'
import type { DatabaseClient } from '../database.ts'

const shown = {
  omit: { result: true, eventLog: true, input: true, parameters: true, spans: true },
  include: { conversation: { select: { path: true, customIdentifier: true } } },
} as const satisfies Pick<Prisma.RunFindManyArgs, 'omit' | 'include'>

type ShownRun = Prisma.RunGetPayload<typeof shown>

const mostOfConversation = 1_000

export function postgresRunRecordStore(client: DatabaseClient): RunRecordStore {
  return {
    async search(projectId, filter, { after, until, limit }) {
      // The inner query reads keys in the order of an index until `limit` of them match. A scalar subquery is never
      // turned into a join, which would read all conversations.
      return client.$queryRaw<ConversationPlace[]>`
        SELECT r.uuid::text AS uuid, r.created_at AS "createdAt"
        FROM (${scanned(projectId, filter, { after, until })} LIMIT ${runScan}) r
        WHERE ${matching(filter)} ORDER BY r.created_at DESC, r.uuid DESC LIMIT ${limit}`
    },
    async findBound(projectId, filter, after) {
      const [bound] = await client.$queryRaw<ConversationPlace[]>`
        SELECT r.uuid::text AS uuid, r.created_at AS "createdAt"
        FROM (${scanned(projectId, filter, { after })} OFFSET ${runScan - 1} LIMIT 1) r`
      return bound ?? null
    },
    async hasPrompt(projectId, documentUuid) {
      return (await client.document.findFirst({ where: { projectId, documentUuid }, select: { id: true } })) !== null
    },
    async list(uuids) {
      const rows = await client.run.findMany({ where: { uuid: { in: [...uuids] } }, ...shown })
      const runs = await toRecords(client, rows)
      const place = new Map(uuids.map((uuid, index) => [uuid, index]))
      return runs.sort((one, other) => (place.get(one.uuid) ?? 0) - (place.get(other.uuid) ?? 0))
    },
    async listOf(conversationUuid) {
      const rows = await client.run.findMany({
        where: { conversationUuid },
        ...shown,
        orderBy: { epoch: 'asc' },
        take: mostOfConversation,
      })
      return toRecords(client, rows)
    },
    findOptional: (workspaceId, uuid) => findDetails(client, workspaceId, uuid),
  }
}

async function findDetails(client: DatabaseClient, workspaceId: number, uuid: string): Promise<RunDetails | null> {
  const where = { workspaceId, conversation: { deletedAt: null } }
  const { parameters: _parameters, spans: _spans, ...omit } = shown.omit
  const select = { omit, include: shown.include } as const
  const row =
    (await client.run.findFirst({ where: { ...where, uuid }, ...select })) ??
    (await client.run.findFirst({ where: { ...where, conversationUuid: uuid }, ...select, orderBy: { epoch: 'desc' } }))
  if (!row) return null
  const { parameters, spans, ...run } = row
  const [record] = await toRecords(client, [run])
  // The results of this run and of the one before say how many messages the conversation had at their ends.
  const ends = await client.$queryRaw<{ covers: number | null }[]>`
    SELECT (r.result->>'covers')::int AS covers FROM run r
    WHERE r.conversation_uuid = ${run.conversationUuid}::uuid AND r.epoch <= ${run.epoch} ORDER BY r.epoch DESC LIMIT 2`
  const [to, from] = ends.map(({ covers }) => covers)
  const kept = (spans === null ? { spans: [], spansCut: false } : JSON.parse(spans)) as Pick<
    RunDetails,
    'spans' | 'spansCut'
  >
  if (!record) return null
  return {
    ...record,
    ...kept,
    parameters: parameters === null ? null : (JSON.parse(parameters) as Record<string, unknown>),
    messageRange: to == null ? null : [from ?? 0, to],
  }
}

/** The keys of the narrowest index, newest first. Has the columns that `matching` reads. */
function scanned(
  projectId: number,
  filter: RunFilter,
  { after, until }: { after?: ConversationPlace | undefined; until?: ConversationPlace | undefined },
): Prisma.Sql {
  const { documentUuid, status, uuid, from, to } = filter
  const columns = Prisma.sql`r.uuid, r.created_at, r.conversation_uuid, r.status, r.version_uuid, r.model, r.via,
    r.author_id, r.cost_nano, r.ended_at`
  // No index has both the prompt and the state.
  const isFailed = documentUuid === undefined && status?.length === 1 && status[0] === 'error'
  const bounds = Prisma.sql`r.project_id = ${projectId}
    AND ${documentUuid === undefined ? Prisma.sql`true` : Prisma.sql`r.document_uuid = ${documentUuid}::uuid`}
    AND ${isFailed ? Prisma.sql`r.status = 'error'` : Prisma.sql`true`}
    AND ${from ? Prisma.sql`r.created_at >= ${from}::timestamptz` : Prisma.sql`true`}
    AND ${to ? Prisma.sql`r.created_at <= ${to}::timestamptz` : Prisma.sql`true`}
    AND ${after ? Prisma.sql`(r.created_at, r.uuid) < (${after.createdAt}::timestamptz, ${after.uuid}::uuid)` : Prisma.sql`true`}
    AND ${until ? Prisma.sql`(r.created_at, r.uuid) >= (${until.createdAt}::timestamptz, ${until.uuid}::uuid)` : Prisma.sql`true`}`
  const newestFirst = Prisma.sql`ORDER BY created_at DESC, uuid DESC`
  if (!uuid) return Prisma.sql`SELECT ${columns} FROM run r WHERE ${bounds} ${newestFirst}`
  const { first, last } = uuid
  return Prisma.sql`SELECT ${columns} FROM run r WHERE r.uuid BETWEEN ${first}::uuid AND ${last}::uuid AND ${bounds}
    UNION SELECT ${columns} FROM run r WHERE r.conversation_uuid BETWEEN ${first}::uuid AND ${last}::uuid AND ${bounds}
    ${newestFirst}`
}

function matching({ status, path, versionUuid, customIdentifier, ...filter }: RunFilter): Prisma.Sql {
  const { model, via, authorId, minCost, minDurationMs } = filter
  const conditions = [
    Prisma.sql`(SELECT c.deleted_at IS NULL
      AND ${path === undefined ? Prisma.sql`true` : Prisma.sql`c.path = ${path}`}
      AND ${customIdentifier === undefined ? Prisma.sql`true` : Prisma.sql`c.custom_identifier = ${customIdentifier}`}
      FROM conversation c WHERE c.uuid = r.conversation_uuid)`,
  ]
  if (status) conditions.unshift(Prisma.sql`r.status = ANY(${[...status]})`)
  if (versionUuid !== undefined) conditions.unshift(Prisma.sql`r.version_uuid = ${versionUuid}::uuid`)
  if (model !== undefined) conditions.unshift(Prisma.sql`r.model = ${model}`)
  if (via !== undefined) conditions.unshift(Prisma.sql`r.via = ${via}`)
  if (authorId !== undefined) conditions.unshift(Prisma.sql`r.author_id = ${authorId}`)
  if (minCost !== undefined) conditions.unshift(Prisma.sql`r.cost_nano >= ${Math.round(minCost * 1e9)}::float8`)
  if (minDurationMs !== undefined)
    conditions.unshift(Prisma.sql`extract(epoch FROM r.ended_at - r.created_at) * 1000 >= ${minDurationMs}::float8`)
  return Prisma.join(conditions, ' AND ')
}

async function toRecords(client: DatabaseClient, rows: readonly ShownRun[]): Promise<RecordedRun[]> {
  const ids = (list: readonly (number | null)[]) => [...new Set(list.filter((id) => id !== null))]
  const [authors, keys, logs] = [
    await client.author.findMany({ where: { id: { in: ids(rows.map(({ authorId }) => authorId)) } } }),
    await client.apiKey.findMany({
      where: { id: { in: ids(rows.map(({ apiKeyId }) => apiKeyId)) } },
      select: { id: true, name: true },
    }),
    await client.run.findMany({
      where: { uuid: { in: rows.map(({ uuid }) => uuid) }, eventLog: { not: null } },
      select: { uuid: true },
    }),
  ]
  return rows.map(({ conversation, status, mode, via, parametersState, ...row }) => ({
    ...row,
    ...conversation,
    status: status as RunStatus,
    mode: mode as RecordedRun['mode'],
    via: via as RecordedRun['via'],
    parametersState: parametersState as RecordedRun['parametersState'],
    cost: row.costNano === null ? null : Number(row.costNano) / 1e9,
    author: authors.find(({ id }) => id === row.authorId) ?? null,
    apiKey: keys.find(({ id }) => id === row.apiKeyId) ?? null,
    eventsKept: row.endedAt === null || logs.some(({ uuid }) => uuid === row.uuid),
  }))
}
