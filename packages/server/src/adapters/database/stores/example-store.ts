import type { Message } from '@stet/contract/vocabulary'
import { Prisma } from '../../../../generated/prisma/client.ts'
import type {
  Example,
  ExampleChange,
  ExampleStore,
  ExampleSummary,
  SourceRun,
} from '../../../features/examples/example.ts'
import type { StoredRunResult } from '../../../features/runs/ports.ts'
import { refuse } from '../../../shared/app-error.ts'
import { type DatabaseClient, fromJson, toJson } from '../database.ts'
import { withUniqueName } from '../database-error.ts'
import { withAuthor } from './api-key-store.ts'

const shown = { include: withAuthor } as const
const inOrder: Prisma.ExampleOrderByWithRelationInput[] = [{ position: 'asc' }, { id: 'asc' }]

/** What `list` reads at once, unless a single example is larger. */
const partBytes = 1_048_576

// As `bytesOf`.
const bytes = Prisma.sql`octet_length(parameters::text) + octet_length(messages::text)
  + octet_length(checks::text) + octet_length(tool_results::text) - 4 + coalesce(octet_length(expected::text), 0)`

export function postgresExampleStore(client: DatabaseClient): ExampleStore {
  const findOptional = async (workspaceId: number, projectId: number, uuid: string): Promise<Example | null> => {
    const row = await client.example.findFirst({ where: { workspaceId, projectId, uuid }, ...shown })
    return row && toExample(row)
  }
  return {
    async *list(workspaceId, projectId, documentUuid) {
      const sizes = await client.$queryRaw<{ id: number; bytes: number }[]>`
        SELECT id, ${bytes} AS bytes FROM example
        WHERE workspace_id = ${workspaceId} AND project_id = ${projectId} AND document_uuid = ${documentUuid}::uuid
        ORDER BY position, id`
      for (const ids of inParts(sizes)) {
        const where = { workspaceId, id: { in: ids } }
        yield* (await client.example.findMany({ where, ...shown, orderBy: inOrder })).map(toExample)
      }
    },
    listSummaries: (workspaceId, projectId, documentUuid) =>
      listSummaries(client, { workspaceId, projectId, documentUuid }),
    async totals(workspaceId, projectId, documentUuid) {
      const [row] = await client.$queryRaw<{ count: number; bytes: number }[]>`
        SELECT count(*)::int AS count, coalesce(sum(${bytes}), 0)::int AS bytes
        FROM example
        WHERE workspace_id = ${workspaceId} AND project_id = ${projectId} AND document_uuid = ${documentUuid}::uuid`
      return row ?? { count: 0, bytes: 0 }
    },
    async nextPosition(workspaceId, projectId, documentUuid) {
      const where = { workspaceId, projectId, documentUuid }
      const { _max } = await client.example.aggregate({ where, _max: { position: true } })
      return (_max.position ?? -1) + 1
    },
    findOptional,
    async listNamed(workspaceId, projectId, documentUuid, names) {
      const where = { workspaceId, projectId, documentUuid, name: { in: [...names] } }
      return (await client.example.findMany({ where, ...shown })).map(toExample)
    },
    findSource: (workspaceId, projectId, runUuid) => findSource(client, { workspaceId, projectId, uuid: runUuid }),
    async lockConversations(workspaceId, uuids) {
      const rows = await client.$queryRaw<{ uuid: string }[]>`
        SELECT uuid::text AS uuid FROM conversation
        WHERE workspace_id = ${workspaceId} AND uuid = ANY(${[...uuids]}::uuid[]) AND deleted_at IS NULL
        ORDER BY uuid FOR SHARE`
      return new Set(rows.map(({ uuid }) => uuid))
    },
    async listSavedRuns(workspaceId, projectId, runUuids) {
      const where = { workspaceId, projectId, sourceRunUuid: { in: [...runUuids] } }
      const rows = await client.example.findMany({ where, select: { sourceRunUuid: true } })
      return new Set(rows.map(({ sourceRunUuid }) => sourceRunUuid ?? ''))
    },
    async create(workspaceId, example) {
      await withUniqueName('example-name-taken', example.name, () =>
        client.example.create({ data: newRow(workspaceId, example), select: { id: true } }),
      )
    },
    async createMany(workspaceId, examples) {
      await client.example.createMany({ data: examples.map((example) => newRow(workspaceId, example)) })
    },
    async update(workspaceId, projectId, uuid, change) {
      await withUniqueName('example-name-taken', change.name ?? '', () =>
        client.example.updateMany({ where: { workspaceId, projectId, uuid }, data: columnsOf(change) }),
      )
      const example = await findOptional(workspaceId, projectId, uuid)
      if (!example) throw refuse('unknown-example')
      return example
    },
    async delete(workspaceId, projectId, uuid) {
      const { count } = await client.example.deleteMany({ where: { workspaceId, projectId, uuid } })
      return count === 1
    },
    async deleteMany(workspaceId, projectId, documentUuid, uuids) {
      if (uuids.length === 0) return 0
      const where = { workspaceId, projectId, documentUuid, uuid: { in: [...uuids] } }
      return (await client.example.deleteMany({ where })).count
    },
  }
}

async function listSummaries(
  client: DatabaseClient,
  { workspaceId, projectId, documentUuid }: { workspaceId: number; projectId: number; documentUuid: string },
): Promise<ExampleSummary[]> {
  const rows = await client.$queryRaw<SummaryRow[]>`
    SELECT e.uuid::text AS uuid, e.document_uuid::text AS "documentUuid", e.name, e.tags, e.position,
      e.source_run_uuid::text AS "sourceRunUuid", e.created_at AS "createdAt", e.updated_at AS "updatedAt",
      json_array_length(e.messages) > 0 AS "hasMessages", e.expected IS NOT NULL AS "hasExpected",
      octet_length(e.tool_results::text) > 2 AS "hasToolResults", json_array_length(e.checks) AS "checkCount",
      a.id AS "authorId", a.name AS "authorName", a.email AS "authorEmail"
    FROM example e JOIN author a ON a.id = e.author_id
    WHERE e.workspace_id = ${workspaceId} AND e.project_id = ${projectId} AND e.document_uuid = ${documentUuid}::uuid
    ORDER BY e.position, e.id`
  return rows.map(toSummary)
}

async function findSource(
  client: DatabaseClient,
  of: { workspaceId: number; projectId: number; uuid: string },
): Promise<SourceRun | null> {
  const row = await client.run.findFirst({
    where: { ...of, conversation: { deletedAt: null } },
    select: {
      ...{ uuid: true, conversationUuid: true, documentUuid: true, endedAt: true, parameters: true, result: true },
      ...{ givenFrom: true, givenCount: true, conversation: { select: { path: true, config: true, messages: true } } },
    },
    // A join would build `jsonb`, which loses the order of keys.
    relationLoadStrategy: 'query',
  })
  if (!row) return null
  const { endedAt, parameters, result, givenFrom, givenCount, conversation, ...ids } = row
  const { response, covers } = fromJson<Partial<StoredRunResult> | null>(result) ?? {}
  const messages = fromJson<Message[]>(conversation.messages)
  const from = givenFrom ?? 0
  return {
    ...ids,
    path: conversation.path,
    config: fromJson(conversation.config),
    isEnded: endedAt !== null,
    parameters: parameters === null ? null : (JSON.parse(parameters) as Record<string, unknown>),
    given: messages.slice(from, from + (givenCount ?? 0)),
    // Only the first run of a conversation has parameters, so its messages are the first ones.
    messages: messages.slice(0, covers ?? 0),
    answer: (response?.streamType === 'object' ? response.object : response?.text) ?? null,
  }
}

function inParts(rows: readonly { id: number; bytes: number }[]): number[][] {
  const parts: number[][] = []
  let room = 0
  for (const { id, bytes: size } of rows) {
    room -= size
    if (room < 0) {
      parts.push([])
      room = partBytes - size
    }
    parts.at(-1)?.push(id)
  }
  return parts
}

function newRow(workspaceId: number, { author, ...example }: Example): Prisma.ExampleCreateManyInput {
  const { parameters, messages, ...rest } = example
  const required = { parameters: toJson(parameters), messages: toJson(messages) }
  return { ...columnsOf(rest), ...rowKeys(example), ...required, workspaceId, authorId: author.id }
}

function rowKeys({ uuid, projectId, documentUuid, name, createdAt, updatedAt }: Omit<Example, 'author'>) {
  return { uuid, projectId, documentUuid, name, createdAt, updatedAt }
}

function columnsOf({ parameters, messages, expected, checks, toolResults, ...plain }: Partial<ExampleChange>) {
  return {
    ...plain,
    ...(parameters && { parameters: toJson(parameters) }),
    ...(messages && { messages: toJson(messages) }),
    // JSON's null does not occur: nothing expected is SQL's null.
    ...(expected !== undefined && {
      expected: expected === null ? Prisma.DbNull : (expected as Prisma.InputJsonValue),
    }),
    ...(checks && { checks: toJson(checks) }),
    ...(toolResults && { toolResults: toJson(toolResults) }),
  }
}

type Row = Prisma.ExampleGetPayload<typeof shown>

function toExample({
  id: _id,
  authorId: _authorId,
  customIdentifier: _source,
  parameters,
  messages,
  expected,
  checks,
  toolResults,
  ...row
}: Row): Example {
  return {
    ...row,
    parameters: fromJson(parameters),
    messages: fromJson(messages),
    expected,
    checks: fromJson(checks),
    toolResults: fromJson(toolResults),
  }
}

type SummaryRow = Omit<ExampleSummary, 'author'> & { authorId: number; authorName: string; authorEmail: string }

function toSummary({ authorId: id, authorName: name, authorEmail: email, ...row }: SummaryRow): ExampleSummary {
  return { ...row, author: { id, name, email } }
}
