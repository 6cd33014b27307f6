import { FEEDBACK_VALUES } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { Prisma } from '../../../../generated/prisma/client.ts'
import type {
  ConversationFilter,
  ConversationPlace,
  ConversationStore,
  LabelStore,
  LockedConversation,
  Note,
  RecordedRun,
  StoredSummary,
} from '../../../features/conversations/ports.ts'
import { feedbackPrefix, type RunStatus } from '../../../features/runs/run.ts'
import type { DatabaseClient } from '../database.ts'

/** Columns that are read with the labels. */
export const noLabels = { note: true, noteBy: true, noteAt: true } as const

const shown = {
  omit: { ...noLabels, config: true, messages: true, epoch: true, lastEventId: true, deletedAt: true },
  // Ordered by epoch, because two runs may have the same `createdAt` millisecond.
  include: { runs: { select: { uuid: true, endedAt: true }, orderBy: { epoch: 'desc' }, take: 1 } },
} as const satisfies Pick<Prisma.ConversationFindManyArgs, 'omit' | 'include'>

type SummaryRow = Prisma.ConversationGetPayload<typeof shown>
type ShownResult = NonNullable<StoredSummary['latestRun']>['result']

export function postgresConversationStore(client: DatabaseClient): ConversationStore {
  return {
    async list(workspaceId, filter, { after, limit }) {
      const rows = await client.conversation.findMany({
        where: { workspaceId, deletedAt: null, ...filtered(filter), ...(after && { AND: older(after) }) },
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
    ({ uuid, projectId, createdAt }: LockedConversation, authorId: number) =>
    (tag: string) => ({
      ...{ projectId, tag, authorId },
      at: createdAt,
      conversationUuid: uuid,
    })
  return {
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
    async replaceTags(conversation, tags, authorId) {
      const where = { conversationUuid: conversation.uuid, NOT: { tag: { startsWith: feedbackPrefix } } }
      await client.conversationTag.deleteMany({ where })
      await client.conversationTag.createMany({ data: tags.map(addTag(conversation, authorId)) })
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
      const isOwn = { NOT: { tag: { startsWith: feedbackPrefix } } }
      const uses = await client.conversationTag.groupBy({
        by: ['tag'],
        where: { projectId, at: { gte: since }, conversation: { deletedAt: null }, ...isOwn },
        _count: { tag: true },
        _max: { at: true },
        orderBy: [{ _count: { tag: 'desc' } }, { tag: 'asc' }],
        take: limit,
      })
      return uses.map(({ tag, _count, _max }) => ({ tag, conversations: _count.tag, lastAt: _max.at ?? since }))
    },
  }
}

export async function findNote(client: DatabaseClient, uuid: string): Promise<Note | null> {
  const row = await client.conversation.findUnique({ where: { uuid }, select: noLabels })
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
