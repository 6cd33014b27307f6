import type { Message } from '@stet/contract/vocabulary'
import { Prisma } from '../../../../generated/prisma/client.ts'
import type {
  RecordedRun,
  RunDetails,
  RunFilter,
  RunPlace,
  RunRecordStore,
  RunWithContent,
} from '../../../features/conversations/ports.ts'
import { runScan } from '../../../features/conversations/ports.ts'
import { feedbackPrefix, type RunStatus } from '../../../features/runs/run.ts'
import { type DatabaseClient, fromJson } from '../database.ts'
import { findNote, labelsIn } from './conversation-store.ts'

const shown = {
  omit: { result: true, eventLog: true, input: true, parameters: true, spans: true },
  include: { conversation: { select: { path: true, customIdentifier: true } } },
} as const satisfies Pick<Prisma.RunFindManyArgs, 'omit' | 'include'>

type ShownRun = Prisma.RunGetPayload<typeof shown>

const maxOfConversation = 1_000

export function postgresRunRecordStore(client: DatabaseClient): RunRecordStore {
  return {
    async search(projectId, filter, { after, limit }) {
      // Reads keys in the order of an index until `limit` of them match. A window and a limit keep that order without a
      // sort, which would read all keys first. A scalar subquery is never turned into a join, which would read all
      // conversations.
      const rows = await client.$queryRaw<FoundRow[]>`
        SELECT ${placeColumns(filter)}, r."isMatch", r.number = ${runScan} AS "isBound"
        FROM (SELECT r.*, ${matching(projectId, filter)} AS "isMatch"
          FROM (SELECT r.*, row_number() OVER () AS number
            FROM (${scanned(projectId, filter, after)} LIMIT ${runScan}) r) r) r
        WHERE r.number = ${runScan} OR r."isMatch" LIMIT ${limit}`
      const bound = rows.find(({ isBound }) => isBound)
      return { places: rows.filter(({ isMatch }) => isMatch).map(toPlace), bound: bound ? toPlace(bound) : null }
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
    withContent: (runs) => withContent(client, runs),
    async listOf(conversationUuid) {
      const rows = await client.run.findMany({
        where: { conversationUuid },
        ...shown,
        orderBy: { epoch: 'asc' },
        take: maxOfConversation,
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
  const ranges = await messageRanges(client, [run.uuid])
  const kept = (spans === null ? { spans: [], spansCut: false } : JSON.parse(spans)) as Pick<
    RunDetails,
    'spans' | 'spansCut'
  >
  if (!record) return null
  return {
    ...record,
    ...kept,
    parameters: readParameters(parameters),
    messageRange: ranges.get(run.uuid) ?? null,
    note: await findNote(client, run.conversationUuid),
  }
}

/** The results of a run and of the one before say how many messages the conversation had at their ends. */
async function messageRanges(client: DatabaseClient, uuids: readonly string[]): Promise<Map<string, [number, number]>> {
  const ends = await client.$queryRaw<{ uuid: string; from: number | null; to: number | null }[]>`
    SELECT r.uuid::text AS uuid, (r.result->>'covers')::int AS "to",
      (SELECT (p.result->>'covers')::int FROM run p
       WHERE p.conversation_uuid = r.conversation_uuid AND p.epoch < r.epoch ORDER BY p.epoch DESC LIMIT 1) AS "from"
    FROM run r WHERE r.uuid = ANY(${[...uuids]}::uuid[])`
  return new Map(ends.flatMap(({ uuid, from, to }) => (to === null ? [] : [[uuid, [from ?? 0, to]]])))
}

/** Keeps one conversation in memory. Neighbors are often of the same one. */
async function* withContent(client: DatabaseClient, runs: readonly RecordedRun[]): AsyncGenerator<RunWithContent> {
  const ranges = await messageRanges(
    client,
    runs.map(({ uuid }) => uuid),
  )
  let current: { uuid: string; messages: Message[] } | undefined
  for (const run of runs) {
    const { uuid, conversationUuid } = run
    const row = await client.run.findUnique({ where: { uuid }, select: { parameters: true } })
    if (current?.uuid !== conversationUuid) {
      current = undefined
      const where = { uuid: conversationUuid }
      const conversation = await client.conversation.findUnique({ where, select: { messages: true } })
      current = { uuid: conversationUuid, messages: conversation ? fromJson<Message[]>(conversation.messages) : [] }
    }
    const messages = current.messages.slice(...(ranges.get(uuid) ?? [0, 0]))
    yield { ...run, parameters: readParameters(row?.parameters ?? null), messages }
  }
}

function readParameters(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>)
}

/** `start` is that of the conversation. Null for a search without a tag. A conversation without runs has no uuid. */
interface PlaceRow {
  uuid: string | null
  createdAt: Date | null
  start: Date | null
  conversationUuid: string
}

interface FoundRow extends PlaceRow {
  isMatch: boolean | null
  /** The last run that the search reads. */
  isBound: boolean
}

const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The last place of a conversation. */
const beforeRuns: RunPlace = { uuid: '00000000-0000-0000-0000-000000000000', createdAt: new Date(0) }

const tagOf = ({ tag, feedback }: RunFilter) => tag ?? (feedback && `${feedbackPrefix}${feedback}`)

const placeColumns = (filter: RunFilter) => Prisma.sql`r.uuid::text AS uuid, r.created_at AS "createdAt",
  ${tagOf(filter) === undefined ? Prisma.sql`NULL::timestamptz` : Prisma.sql`r.start`} AS start,
  r.conversation_uuid::text AS "conversationUuid"`

function toPlace({ start, conversationUuid, uuid, createdAt }: PlaceRow): RunPlace {
  const run = uuid === null || createdAt === null ? beforeRuns : { uuid, createdAt }
  return start === null ? run : { ...run, conversation: { createdAt: start, uuid: conversationUuid } }
}

const scannedColumns = Prisma.sql`r.uuid, r.created_at, r.project_id, r.status, r.document_uuid, r.version_uuid, r.model, r.via,
  r.author_id, r.cost_nano, r.ended_at`

/** The keys of the narrowest index, newest first. Has the columns that `matching` reads. */
function scanned(projectId: number, filter: RunFilter, after?: RunPlace): Prisma.Sql {
  const tag = tagOf(filter)
  if (tag !== undefined) return scannedByTag(projectId, tag, filter.to, after)
  return filter.uuid ? scannedByUuid(filter.uuid, after) : scannedRuns(projectId, filter, after)
}

/**
 * The key of the tags has the order of the conversations. The first place is given also where a list begins, so that the
 * planner takes this key without statistics too. The inner limit bounds the scan whatever the planner expects: it sorts all
 * runs of a tag that it takes for rare. It has one conversation more than `runScan`, because that of `after`
 * may have no further run. Conversations without runs (external logs) count as read keys, so that they end a scan too.
 */
function scannedByTag(projectId: number, tag: string, to?: Date, after?: RunPlace): Prisma.Sql {
  const { createdAt, uuid } = after?.conversation ?? after ?? { createdAt: to ?? null, uuid: lastUuid }
  return Prisma.sql`SELECT ${scannedColumns}, t.conversation_uuid, t.at AS start
    FROM (SELECT at, conversation_uuid FROM conversation_tag
      WHERE project_id = ${projectId} AND tag = ${tag}
        AND (at, conversation_uuid) <= (coalesce(${createdAt}::timestamptz, 'infinity'), ${uuid}::uuid)
      ORDER BY at DESC, conversation_uuid DESC LIMIT ${runScan + 1}) t
    LEFT JOIN run r ON r.conversation_uuid = t.conversation_uuid
    WHERE ${after ? Prisma.sql`(t.conversation_uuid <> ${uuid}::uuid OR (r.created_at, r.uuid) < (${after.createdAt}::timestamptz, ${after.uuid}::uuid))` : Prisma.sql`true`}
    ORDER BY t.at DESC, t.conversation_uuid DESC, r.created_at DESC, r.uuid DESC`
}

function scannedByUuid({ first, last }: NonNullable<RunFilter['uuid']>, after?: RunPlace): Prisma.Sql {
  return Prisma.sql`SELECT r.conversation_uuid, ${scannedColumns} FROM run r
      WHERE r.uuid BETWEEN ${first}::uuid AND ${last}::uuid AND ${before(after)}
    UNION SELECT r.conversation_uuid, ${scannedColumns} FROM run r
      WHERE r.conversation_uuid BETWEEN ${first}::uuid AND ${last}::uuid AND ${before(after)}
    ORDER BY created_at DESC, uuid DESC`
}

/**
 * Hides the value from the planner (`= ANY(subquery)`), so that it does not read and sort all runs of a prompt or a project
 * that its statistics take for rare, for example of a new one.
 */
function scannedRuns(projectId: number, { documentUuid, status, from, to }: RunFilter, after?: RunPlace): Prisma.Sql {
  // No index has both the prompt and the state.
  const isFailed = documentUuid === undefined && status?.length === 1 && status[0] === 'error'
  const [column, own] =
    documentUuid === undefined
      ? [Prisma.sql`r.project_id`, Prisma.sql`(SELECT ARRAY[${projectId}])::int[]`]
      : [Prisma.sql`r.document_uuid`, Prisma.sql`(SELECT ARRAY[${documentUuid}])::uuid[]`]
  return Prisma.sql`SELECT r.conversation_uuid, ${scannedColumns} FROM run r
    WHERE ${isFailed ? Prisma.sql`r.status = 'error' AND r.project_id = ${projectId}` : Prisma.sql`${column} = ANY(${own})`}
      AND ${from ? Prisma.sql`r.created_at >= ${from}::timestamptz` : Prisma.sql`true`}
      AND ${to ? Prisma.sql`r.created_at <= ${to}::timestamptz` : Prisma.sql`true`}
      AND ${before(after)}
    ORDER BY ${column} DESC, r.created_at DESC, r.uuid DESC`
}

const before = (after?: RunPlace) =>
  after ? Prisma.sql`(r.created_at, r.uuid) < (${after.createdAt}::timestamptz, ${after.uuid}::uuid)` : Prisma.sql`true`

/**
 * All conditions of the filter. CASE, not AND: the conversation is read only if the run's own columns match. AND would read
 * it after a null, too. A conversation without runs has no project here.
 */
function matching(projectId: number, filter: RunFilter): Prisma.Sql {
  const { status, path, versionUuid, documentUuid, customIdentifier, model, via, authorId } = filter
  const { minCost, minDurationMs, tag, feedback, from, to, uuid } = filter
  const conditions = [Prisma.sql`r.project_id = ${projectId}`]
  if (documentUuid !== undefined) conditions.push(Prisma.sql`r.document_uuid = ${documentUuid}::uuid`)
  if (from) conditions.push(Prisma.sql`r.created_at >= ${from}::timestamptz`)
  if (to) conditions.push(Prisma.sql`r.created_at <= ${to}::timestamptz`)
  if (uuid)
    conditions.push(Prisma.sql`(r.uuid BETWEEN ${uuid.first}::uuid AND ${uuid.last}::uuid
      OR r.conversation_uuid BETWEEN ${uuid.first}::uuid AND ${uuid.last}::uuid)`)
  if (minDurationMs !== undefined)
    conditions.push(Prisma.sql`extract(epoch FROM r.ended_at - r.created_at) * 1000 >= ${minDurationMs}::float8`)
  if (minCost !== undefined) conditions.push(Prisma.sql`r.cost_nano >= ${Math.round(minCost * 1e9)}::float8`)
  if (authorId !== undefined) conditions.push(Prisma.sql`r.author_id = ${authorId}`)
  if (via === undefined) conditions.push(Prisma.sql`r.via IN ('api', 'console')`)
  else if (via !== 'all') conditions.push(Prisma.sql`r.via = ${via}`)
  if (model !== undefined) conditions.push(Prisma.sql`r.model = ${model}`)
  if (versionUuid !== undefined) conditions.push(Prisma.sql`r.version_uuid = ${versionUuid}::uuid`)
  if (status) conditions.push(Prisma.sql`r.status = ANY(${[...status]})`)
  if (tag !== undefined && feedback !== undefined)
    conditions.push(Prisma.sql`(SELECT true FROM conversation_tag f
      WHERE f.conversation_uuid = r.conversation_uuid AND f.tag = ${`${feedbackPrefix}${feedback}`} LIMIT 1)`)
  return Prisma.sql`CASE WHEN ${Prisma.join(conditions, ' AND ')} THEN (SELECT c.deleted_at IS NULL
    AND ${path === undefined ? Prisma.sql`true` : Prisma.sql`c.path = ${path}`}
    AND ${customIdentifier === undefined ? Prisma.sql`true` : Prisma.sql`c.custom_identifier = ${customIdentifier}`}
    FROM conversation c WHERE c.uuid = r.conversation_uuid) END`
}

async function toRecords(client: DatabaseClient, rows: readonly ShownRun[]): Promise<RecordedRun[]> {
  const ids = (list: readonly (number | null)[]) => [...new Set(list.filter((id) => id !== null))]
  const [authors, keys, logs, tags] = [
    await client.author.findMany({ where: { id: { in: ids(rows.map(({ authorId }) => authorId)) } } }),
    await client.apiKey.findMany({
      where: { id: { in: ids(rows.map(({ apiKeyId }) => apiKeyId)) } },
      select: { id: true, name: true },
    }),
    await client.run.findMany({
      where: { uuid: { in: rows.map(({ uuid }) => uuid) }, eventLog: { not: null } },
      select: { uuid: true },
    }),
    await client.conversationTag.findMany({
      where: { conversationUuid: { in: rows.map(({ conversationUuid }) => conversationUuid) } },
      select: { conversationUuid: true, tag: true },
    }),
  ]
  return rows.map(({ conversation, status, mode, via, parametersState, overrides, ...row }) => ({
    ...row,
    ...conversation,
    ...labelsIn(tags.filter(({ conversationUuid }) => conversationUuid === row.conversationUuid)),
    overrides: fromJson(overrides),
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
