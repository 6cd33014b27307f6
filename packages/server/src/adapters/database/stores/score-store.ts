import type { Prisma } from '../../../../generated/prisma/client.ts'
import type { JudgedAnswer } from '../../../features/evaluations/judge/agreement.ts'
import type { RunToScore, ScoreStore, UnlabeledConversation } from '../../../features/evaluations/ports.ts'
import type { StoredRunResult } from '../../../features/runs/ports.ts'
import { type DatabaseClient, fromJson, toJson } from '../database.ts'
import { codeOf } from '../database-error.ts'

const automatic = { source: { in: ['rule', 'judge', 'code'] } }

/** PostgreSQL's code, through Prisma, for a parent that does not exist. */
const missingParent = 'P2003'

const scoredRun = {
  conversationUuid: true,
  projectId: true,
  documentUuid: true,
  versionUuid: true,
  apiKeyId: true,
  authorId: true,
  status: true,
  result: true,
  costNano: true,
  createdAt: true,
  startedAt: true,
  endedAt: true,
  conversation: { select: { customIdentifier: true } },
} as const

export function postgresScoreStore(client: DatabaseClient): ScoreStore {
  return {
    async findRun(workspaceId, conversationUuid) {
      const row = await client.run.findFirst({
        where: { workspaceId, conversationUuid, conversation: { deletedAt: null } },
        select: scoredRun,
        // A chat that continues the conversation is another run.
        orderBy: [{ createdAt: 'asc' }, { epoch: 'asc' }],
      })
      if (!row) return null
      const { status, result: json, costNano, createdAt, startedAt, conversation, ...run } = row
      const result = fromJson<StoredRunResult | null>(json)
      const ms = run.endedAt === null ? 0 : run.endedAt.getTime() - (startedAt ?? createdAt).getTime()
      return {
        ...run,
        ...conversation,
        status: status as RunToScore['status'],
        response: result?.response,
        hasToolRequests: (result?.toolRequests.length ?? 0) > 0,
        error: result?.error ?? null,
        costUsd: costNano === null ? undefined : Number(costNano) / 1e9,
        durationMs: Math.max(0, ms),
      }
    },
    async noteJudge(workspaceId, conversationUuid, judge) {
      const where = { experiment: { workspaceId }, conversationUuid, NOT: { otherUuids: { has: judge } } }
      await client.experimentItem.updateMany({ where, data: { otherUuids: { push: judge } } })
    },
    listHashes: (workspaceId, conversationUuid) =>
      client.annotation.findMany({
        where: { workspaceId, conversationUuid, ...automatic },
        select: { evaluationUuid: true, scorerHash: true },
      }),
    async deleteOthers(workspaceId, { conversationUuid, evaluationUuid, scorerHash }) {
      const where = { workspaceId, conversationUuid, evaluationUuid, ...automatic, NOT: { scorerHash } }
      await client.annotation.deleteMany({ where })
    },
    async insert(workspaceId, { metadata, ...annotation }) {
      const data = [{ ...annotation, workspaceId, metadata: toJson(metadata) }]
      await client.annotation.createMany({ data, skipDuplicates: true }).catch((error: unknown) => {
        if (codeOf(error) !== missingParent) throw error
      })
    },
    async list(workspaceId, conversationUuids, evaluationUuids) {
      // The newest of each kind, in one pass over the index of the conversations.
      const rows = await client.$queryRaw<ScoreRow[]>`
        SELECT DISTINCT ON (a.conversation_uuid, a.evaluation_uuid, a.source IN ('person', 'user'))
          a.conversation_uuid::text AS "conversationUuid", a.evaluation_uuid::text AS "evaluationUuid",
          a.source IN ('person', 'user') AS "isLabel", a.has_passed AS "hasPassed", a.code, a.created_at AS "createdAt",
          a.author_id AS "authorId", p.name, p.email
        FROM annotation a LEFT JOIN author p ON p.id = a.author_id
        WHERE a.conversation_uuid = ANY(${[...conversationUuids]}::uuid[])
          AND a.evaluation_uuid = ANY(${[...evaluationUuids]}::uuid[]) AND a.workspace_id = ${workspaceId}
        ORDER BY a.conversation_uuid, a.evaluation_uuid, a.source IN ('person', 'user'), a.id DESC`
      const scores = new Map<string, Awaited<ReturnType<ScoreStore['list']>>[number]>()
      for (const row of rows) {
        const { conversationUuid, evaluationUuid, isLabel, hasPassed, code, createdAt, authorId, name, email } = row
        const key = `${conversationUuid} ${evaluationUuid}`
        const score = scores.get(key) ?? { conversationUuid, evaluationUuid, label: null, auto: null }
        const author = name === null || email === null ? null : { id: authorId, name, email }
        if (isLabel) score.label = { hasPassed: hasPassed === true, author, createdAt }
        else score.auto = { hasPassed, code } as typeof score.auto
        scores.set(key, score)
      }
      return [...scores.values()]
    },
    listJudged: (workspaceId, evaluationUuid, fingerprint) =>
      listJudged(client, { workspaceId, evaluationUuid, fingerprint }),
    listEnded: (workspaceId, filter, limit) => listEnded(client, { workspaceId, ...filter }, limit),
  }
}

// More labels than people give, and few enough for one statement.
const mostLabels = 5_000

async function listJudged(
  client: DatabaseClient,
  { fingerprint, ...evaluation }: { workspaceId: number; evaluationUuid: string; fingerprint: string },
): Promise<JudgedAnswer[]> {
  const kept = { ...evaluation, conversation: { deletedAt: null } }
  const labels = await client.annotation.findMany({
    where: { ...kept, source: 'person' },
    orderBy: { id: 'desc' },
    take: mostLabels,
  })
  // The newest label of an answer comes first.
  const newest = new Map(labels.toReversed().map((label) => [label.conversationUuid, label]))
  const verdicts = await client.annotation.findMany({
    where: { ...kept, source: 'judge', state: 'scored', conversationUuid: { in: [...newest.keys()] } },
    select: { conversationUuid: true, hasPassed: true, metadata: true },
  })
  const verdictOf = new Map(verdicts.map((one) => [one.conversationUuid, one]))
  const authors = await client.author.findMany({ where: { id: { in: labels.map(({ authorId }) => authorId) } } })
  return [...newest.values()]
    .sort((one, other) => other.id - one.id)
    .flatMap(({ conversationUuid, hasPassed, metadata, authorId, createdAt }) => {
      const verdict = verdictOf.get(conversationUuid)
      if (!verdict || fromJson<Metadata>(verdict.metadata).fingerprint !== fingerprint) return []
      const author = authors.find(({ id }) => id === authorId) ?? null
      const label = { hasPassed: hasPassed === true, reason: reasonIn(metadata), author, createdAt }
      return [
        {
          conversationUuid,
          label,
          verdict: { hasPassed: verdict.hasPassed === true, reason: reasonIn(verdict.metadata) },
        },
      ]
    })
}

interface Metadata {
  reason?: unknown
  fingerprint?: unknown
}

function reasonIn(metadata: Prisma.JsonValue): string | null {
  const { reason } = fromJson<Metadata>(metadata)
  return typeof reason === 'string' ? reason : null
}

const queued = {
  uuid: true,
  documentUuid: true,
  versionUuid: true,
  path: true,
  status: true,
  origin: true,
  via: true,
  createdAt: true,
} as const

type EndedFilter = Parameters<ScoreStore['listEnded']>[1] & { workspaceId: number }

async function listEnded(
  client: DatabaseClient,
  { workspaceId, projectId, documentUuid, tag, from, after }: EndedFilter,
  limit: number,
): Promise<UnlabeledConversation[]> {
  const shown = {
    workspaceId,
    projectId,
    ...{ deletedAt: null, via: { not: 'judge' }, status: { notIn: ['queued', 'running'] } },
    ...(documentUuid === null ? {} : { documentUuid }),
  }
  const bounds = (at: string, uuid: string) => ({
    ...(from && { [at]: { gte: from } }),
    // The first condition bounds the index range. The second one alone would not.
    ...(after && {
      AND: [
        { [at]: { lte: after.createdAt } },
        { OR: [{ [at]: { lt: after.createdAt } }, { [uuid]: { lt: after.uuid } }] },
      ],
    }),
  })
  if (tag === undefined) {
    const where = { ...shown, ...bounds('createdAt', 'uuid') }
    const orderBy = [{ createdAt: 'desc' as const }, { uuid: 'desc' as const }]
    return (await client.conversation.findMany({ where, select: queued, orderBy, take: limit })).map(toUnlabeled)
  }
  const tags = await client.conversationTag.findMany({
    where: { projectId, tag, conversation: shown, ...bounds('at', 'conversationUuid') },
    select: { conversation: { select: queued } },
    orderBy: [{ at: 'desc' }, { conversationUuid: 'desc' }],
    take: limit,
  })
  return tags.map(({ conversation }) => toUnlabeled(conversation))
}

type QueuedRow = Prisma.ConversationGetPayload<{ select: typeof queued }>

function toUnlabeled(row: QueuedRow): UnlabeledConversation {
  return row as UnlabeledConversation
}

interface ScoreRow {
  conversationUuid: string
  evaluationUuid: string
  isLabel: boolean
  hasPassed: boolean | null
  code: string | null
  createdAt: Date
  authorId: number
  name: string | null
  email: string | null
}
