import { Prisma } from '../../../../generated/prisma/client.ts'
import type { Arm, Experiment, ExperimentItem, ExperimentTexts } from '../../../features/experiments/experiment.ts'
import {
  type ExperimentStore,
  type NextAttempt,
  noProgress,
  type Progress,
} from '../../../features/experiments/ports.ts'
import { type DatabaseClient, fromJson, toJson } from '../database.ts'
import { codeOf } from '../database-error.ts'
import { withAuthor } from './api-key-store.ts'
import { readVerdicts, rowPositions, shownRows } from './experiment-items.ts'
import { dropScoresSql, nextAttemptsSql, progressSql, reopenSql } from './experiment-rows.ts'

const shown = {
  omit: { texts: true, contentKey: true },
  include: withAuthor,
} as const satisfies Prisma.ExperimentFindManyArgs

/** Rows of one INSERT: each has thirteen parameters, of which a statement may have 65,535. */
const itemsAtOnce = 2_000

export function postgresExperimentStore(client: DatabaseClient): ExperimentStore {
  return { ...reads(client), ...writes(client) }
}

type Writes = 'create' | 'addItems' | 'nextAttempts' | 'setState' | 'addScores' | 'addEvaluations' | 'rescore'

function reads(client: DatabaseClient): Omit<ExperimentStore, Writes> {
  return {
    async list(workspaceId, projectId, { documentUuid, after, limit }) {
      const id = after === undefined ? undefined : { lt: await idOf(client, workspaceId, after) }
      const where = { workspaceId, projectId, ...(documentUuid !== undefined && { documentUuid }), ...(id && { id }) }
      const rows = await client.experiment.findMany({ where, ...shown, orderBy: { id: 'desc' }, take: limit })
      return rows.map(toExperiment)
    },
    async findOptional(workspaceId, uuid) {
      const row = await client.experiment.findFirst({ where: { workspaceId, uuid }, ...shown })
      return row && toExperiment(row)
    },
    async findTexts(workspaceId, uuid) {
      const row = await client.experiment.findFirst({ where: { workspaceId, uuid }, select: { texts: true } })
      return row ? (JSON.parse(row.texts) as ExperimentTexts) : { arms: [], judges: [] }
    },
    async findRunning(workspaceId, { projectId, documentUuid, contentKey }) {
      const where = { workspaceId, projectId, documentUuid, contentKey, state: 'running' }
      return (await client.experiment.findFirst({ where, select: { uuid: true } }))?.uuid ?? null
    },
    async countRunning(workspaceId) {
      await client.$queryRaw`SELECT id FROM workspace WHERE id = ${workspaceId} FOR NO KEY UPDATE`
      return client.experiment.count({ where: { workspaceId, state: 'running', project: { deletedAt: null } } })
    },
    async listItems(workspaceId, uuid) {
      const where = { experiment: { workspaceId, uuid } }
      const order = [{ position: 'asc' }, { trial: 'asc' }, { arm: 'asc' }] as const
      const omit = { experimentId: true, isRetry: true, otherUuids: true } as const
      const rows = await client.experimentItem.findMany({ where, omit, orderBy: [...order] })
      return rows.map((row) => ({ ...row, code: row.code as ExperimentItem['code'] }))
    },
    async progress(workspaceId, uuids) {
      const where = { workspaceId, uuid: { in: [...uuids] } }
      const found = await client.experiment.findMany({ where, select: { id: true, uuid: true } })
      const ids = found.map(({ id }) => id)
      const rows = await client.$queryRawUnsafe<(Progress & { id: number })[]>(
        progressSql('i.experiment_id = ANY($1::int[])'),
        ids,
      )
      const byId = new Map(rows.map(({ id, ...progress }) => [id, progress]))
      return new Map(found.flatMap(({ id, uuid }) => [[uuid, byId.get(id) ?? noProgress] as const]))
    },
    async meanCosts(workspaceId, documentUuid, models) {
      const rows = await client.$queryRaw<{ model: string; usd: number }[]>`
        SELECT m.model, avg(f.cost_nano)::float8 / 1e9 AS usd
        FROM unnest(${[...new Set(models)]}::text[]) m(model)
        CROSS JOIN LATERAL (
          SELECT cost_nano FROM run r WHERE r.workspace_id = ${workspaceId} AND r.document_uuid = ${documentUuid}::uuid
            AND r.model = m.model AND r.cost_nano IS NOT NULL ORDER BY r.created_at DESC LIMIT 20) f
        GROUP BY 1`
      return new Map(rows.map(({ model, usd }) => [model, usd]))
    },
    verdicts: (workspaceId, uuid) => readVerdicts(client, workspaceId, uuid),
    listRows: (workspaceId, uuid, positions) => shownRows(client, { workspaceId, uuid, positions }),
    listPositions: (workspaceId, uuid, arm) => rowPositions(client, { workspaceId, uuid, arm }),
  }
}

function writes(client: DatabaseClient): Pick<ExperimentStore, Writes> {
  return {
    async create(workspaceId, { author, arms, texts, judges, origin, areAnswersDropped: _no, ...experiment }, items) {
      const json = {
        arms: arms.map(toJson),
        judges: judges.map(toJson),
        origin: origin ? toJson(origin) : Prisma.DbNull,
      }
      const data = { ...experiment, ...json, workspaceId, texts: JSON.stringify(texts), authorId: author.id }
      // A unique index allows one running experiment with the same arms and rows.
      const { count } = await client.experiment.createMany({ data: [data], skipDuplicates: true })
      if (count === 0) return false
      await createItems(client, await idOf(client, workspaceId, experiment.uuid), items)
      return true
    },
    async addItems(workspaceId, experimentUuid, items) {
      await createItems(client, await idOf(client, workspaceId, experimentUuid), items)
    },
    async nextAttempts(_workspaceId, uuid, attempts) {
      if (attempts.length > 0) await client.$executeRawUnsafe(nextAttemptsSql, ...attemptParams(uuid, attempts))
    },
    async setState(workspaceId, uuid, { from, ...change }) {
      const where = { workspaceId, uuid, state: { in: [...from] } }
      try {
        return (await client.experiment.updateMany({ where, data: change })).count === 1
      } catch (error) {
        // Another experiment with the same arms and rows is running.
        if (codeOf(error) === 'P2002') return false
        throw error
      }
    },
    async addScores(workspaceId, uuid, { rows, authorId, createdAt }) {
      const itemUuids = [...new Set(rows.map(({ itemUuid }) => itemUuid))]
      const items = await client.$queryRaw<{ uuid: string; conversationUuid: string; versionUuid: string }[]>`
        SELECT i.uuid::text, c.uuid::text AS "conversationUuid", c.version_uuid::text AS "versionUuid"
        FROM experiment e JOIN experiment_item i ON i.experiment_id = e.id
        JOIN conversation c ON c.uuid = i.conversation_uuid AND c.deleted_at IS NULL
        WHERE e.workspace_id = ${workspaceId} AND e.uuid = ${uuid}::uuid AND i.uuid = ANY(${itemUuids}::uuid[])`
      const byUuid = new Map(items.map(({ uuid: itemUuid, ...item }) => [itemUuid, item]))
      const data = rows.flatMap(({ itemUuid, hasPassed, metadata, ...row }) => {
        const item = byUuid.get(itemUuid)
        const score = hasPassed === null ? null : Number(hasPassed)
        const shared = { ...row, workspaceId, authorId, createdAt, source: 'code', metadata: toJson(metadata) }
        const state = hasPassed === null ? 'unscored' : 'scored'
        return item
          ? [{ ...shared, ...item, state, hasPassed, score, normalizedScore: score === null ? null : score * 100 }]
          : []
      })
      return (await client.annotation.createMany({ data })).count
    },
    async rescore(workspaceId, projectId, { exampleUuids, sources }) {
      const place = [workspaceId, projectId, [...exampleUuids]] as const
      await client.$executeRawUnsafe(dropScoresSql, ...place, [...sources])
      await client.$executeRawUnsafe(reopenSql, ...place)
    },
    async addEvaluations(workspaceId, uuid, evaluationUuids) {
      await client.$executeRaw`
        UPDATE experiment SET evaluation_uuids = evaluation_uuids || (
          SELECT array_agg(u) FROM unnest(${[...evaluationUuids]}::uuid[]) u WHERE u <> ALL(evaluation_uuids))
        WHERE workspace_id = ${workspaceId} AND uuid = ${uuid}::uuid AND NOT evaluation_uuids @> ${[...evaluationUuids]}::uuid[]`
    },
  }
}

async function idOf(client: DatabaseClient, workspaceId: number, uuid: string): Promise<number> {
  return (await client.experiment.findFirst({ where: { workspaceId, uuid }, select: { id: true } }))?.id ?? 0
}

async function createItems(
  client: DatabaseClient,
  experimentId: number,
  items: readonly ExperimentItem[],
): Promise<void> {
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    const data = items.slice(from, from + itemsAtOnce).map((item) => ({ ...item, experimentId }))
    await client.experimentItem.createMany({ data, skipDuplicates: true })
  }
}

export function attemptParams(experimentUuid: string, attempts: readonly NextAttempt[]): unknown[] {
  return [
    experimentUuid,
    attempts.map(({ uuid }) => uuid),
    attempts.map(({ attempt }) => attempt),
    attempts.map(({ conversationUuid }) => conversationUuid),
    attempts.map(({ isRetry }) => isRetry),
    attempts.map(({ row }) => row?.rowHash ?? null),
    attempts.map(({ row }) => row?.rowName ?? null),
  ]
}

type ShownExperiment = Prisma.ExperimentGetPayload<typeof shown>

function toExperiment({
  id: _id,
  authorId: _authorId,
  droppedAt,
  arms,
  judges,
  origin,
  ...row
}: ShownExperiment): Experiment {
  return {
    ...row,
    arms: fromJson<Arm[]>(arms),
    judges: fromJson<Experiment['judges']>(judges),
    origin: origin === null ? null : fromJson<Experiment['origin']>(origin),
    state: row.state as Experiment['state'],
    reason: row.reason as Experiment['reason'],
    areAnswersDropped: droppedAt !== null,
  }
}
