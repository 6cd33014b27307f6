import { FEEDBACK_VALUES } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { Prisma } from '../../../../generated/prisma/client.ts'
import type {
  ConversationFacts,
  ConversationFilter,
  ConversationPlace,
  ConversationStore,
  LabelStore,
  Note,
  RecordedRun,
  StoredSummary,
  TagUse,
} from '../../../features/conversations/ports.ts'
import { tagScan } from '../../../features/conversations/ports.ts'
import { feedbackPrefix, type RunStatus } from '../../../features/runs/run.ts'
import type { DatabaseClient } from '../database.ts'

/** Columns that are read with the labels. */
export const labelColumns = { note: true, noteBy: true, noteAt: true } as const

const shown = {
  omit: {
    ...labelColumns,
    config: true,
    messages: true,
    epoch: true,
    lastEventId: true,
    judgedUuid: true,
    deletedAt: true,
  },
  // Ordered by epoch, because two runs may have the same `createdAt` millisecond.
  include: { runs: { select: { uuid: true, endedAt: true }, orderBy: { epoch: 'desc' }, take: 1 } },
} as const satisfies Pick<Prisma.ConversationFindManyArgs, 'omit' | 'include'>

type SummaryRow = Prisma.ConversationGetPayload<typeof shown>
type ShownResult = NonNullable<StoredSummary['latestRun']>['result']

export function postgresConversationStore(client: DatabaseClient): ConversationStore {
  return {
    async list(workspaceId, filter, { after, limit }) {
      const rows = await client.conversation.findMany({
        // Items of experiments and judges are listed with their experiment.
        where: {
          workspaceId,
          deletedAt: null,
          via: { in: ['api', 'console'] },
          ...filtered(filter),
          ...(after && { AND: older(after) }),
        },
        ...shown,
        orderBy: [{ createdAt: 'desc' }, { uuid: 'desc' }],
        take: limit,
      })
      const results = await listResults(
        client,
        rows.flatMap(({ runs }) => runs.map(({ uuid }) => uuid)),
      )
      return rows.map((row) => toSummary(row, results))
    },
  }
}

function older({ createdAt, uuid }: ConversationPlace): Prisma.ConversationWhereInput[] {
  // The first condition bounds the index range. The second one alone would not.
  return [{ createdAt: { lte: createdAt } }, { OR: [{ createdAt: { lt: createdAt } }, { uuid: { lt: uuid } }] }]
}

function filtered({ from, to, hiddenProjects = [], ...equal }: ConversationFilter): Prisma.ConversationWhereInput {
  return {
    ...equal,
    ...((from || to) && { createdAt: defined({ gte: from, lte: to }) }),
    ...(hiddenProjects.length > 0 && { NOT: { projectId: { in: [...hiddenProjects] } } }),
  }
}

/** Selects results without `response`, which contains the complete answer and is not listed. */
async function listResults(client: DatabaseClient, uuids: readonly string[]): Promise<Map<string, ShownResult>> {
  if (uuids.length === 0) return new Map()
  const rows = await client.$queryRaw<{ uuid: string; result: ShownResult }[]>`
    SELECT uuid::text AS uuid, result::jsonb - 'response' AS result FROM run WHERE uuid = ANY(${uuids}::uuid[])`
  return new Map(rows.map(({ uuid, result }) => [uuid, result]))
}

function toSummary({ runs: [run], ...row }: SummaryRow, results: ReadonlyMap<string, ShownResult>): StoredSummary {
  const latestRun = run ? { endedAt: run.endedAt, result: results.get(run.uuid) ?? null } : null
  return {
    ...row,
    status: row.status as RunStatus,
    origin: row.origin as StoredSummary['origin'],
    via: row.via as StoredSummary['via'],
    latestRun,
  }
}

export function postgresLabelStore(client: DatabaseClient): LabelStore {
  const addTag =
    ({ uuid, projectId, createdAt }: ConversationFacts, authorId: number) =>
    (tag: string) => ({
      ...{ projectId, tag, authorId },
      at: createdAt,
      conversationUuid: uuid,
    })
  return {
    findConversation(workspaceId, uuid) {
      const where = { workspaceId, uuid, deletedAt: null }
      const facts = { uuid: true, workspaceId: true, projectId: true, documentUuid: true, versionUuid: true } as const
      return client.conversation.findFirst({ where, select: { ...facts, createdAt: true } })
    },
    async lock(workspaceId, uuid) {
      const rows = await client.$queryRaw<unknown[]>`
        SELECT uuid FROM conversation
        WHERE workspace_id = ${workspaceId} AND uuid = ${uuid}::uuid AND deleted_at IS NULL FOR NO KEY UPDATE`
      return rows.length > 0
    },
    async find(conversationUuid) {
      const rows = await client.conversationTag.findMany({ where: { conversationUuid }, select: { tag: true } })
      return { tags: labelsIn(rows).tags, note: await findNote(client, conversationUuid) }
    },
    async changeTags(conversation, { added, removed, authorId }) {
      const where = { conversationUuid: conversation.uuid, tag: { in: [...removed] } }
      if (removed.length > 0) await client.conversationTag.deleteMany({ where })
      if (added.length === 0) return
      await client.conversationTag.createMany({ data: added.map(addTag(conversation, authorId)) })
    },
    async saveNote(uuid, note) {
      const data = { note: note?.text ?? null, noteBy: note?.authorId ?? null, noteAt: note?.at ?? null }
      await client.conversation.updateMany({ where: { uuid }, data })
    },
    async replaceFeedback(conversation, value, authorId) {
      const where = { conversationUuid: conversation.uuid, tag: { startsWith: feedbackPrefix } }
      await client.conversationTag.deleteMany({ where })
      await client.conversationTag.create({ data: addTag(conversation, authorId)(`${feedbackPrefix}${value}`) })
    },
    async listUses(projectId, since, limit) {
      return client.$queryRaw<TagUse[]>`
        SELECT t.tag, count(*)::int AS conversations, max(t.at) AS "lastAt"
        FROM (SELECT tag, at, conversation_uuid FROM conversation_tag
          WHERE project_id = ${projectId} AND at >= ${since}::timestamptz ORDER BY at DESC LIMIT ${tagScan}) t
        WHERE t.tag NOT LIKE ${`${feedbackPrefix}%`}
          AND (SELECT c.deleted_at IS NULL FROM conversation c WHERE c.uuid = t.conversation_uuid)
        GROUP BY t.tag ORDER BY conversations DESC, t.tag LIMIT ${limit}`
    },
  }
}

export async function findNote(client: DatabaseClient, uuid: string): Promise<Note | null> {
  const row = await client.conversation.findUnique({ where: { uuid }, select: labelColumns })
  if (row?.note == null || row.noteAt === null) return null
  const author = row.noteBy === null ? null : await client.author.findUnique({ where: { id: row.noteBy } })
  return { text: row.note, author, at: row.noteAt }
}

/** Sorts the tags, and reads the feedback from them. */
export function labelsIn(rows: readonly { tag: string }[]): Pick<RecordedRun, 'tags' | 'feedback'> {
  const tags = rows.map(({ tag }) => tag).sort()
  const feedback = FEEDBACK_VALUES.find((value) => tags.includes(`${feedbackPrefix}${value}`)) ?? null
  return { tags: tags.filter((tag) => !tag.startsWith(feedbackPrefix)), feedback }
}
