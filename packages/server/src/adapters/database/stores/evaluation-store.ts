import {
  type Annotation as AnnotationRow,
  type Evaluation as EvaluationRow,
  Prisma,
} from '../../../../generated/prisma/client.ts'
import type {
  Annotation,
  AnnotationStore,
  Evaluation,
  EvaluationStore,
} from '../../../features/evaluations/evaluation.ts'
import { type DatabaseClient, fromJson, toJson } from '../database.ts'
import { codeOf } from '../database-error.ts'
import { postgresScoreStore } from './score-store.ts'

// Ordered by id, because two rows may share a millisecond.
const newestFirst = { id: 'desc' } as const

/** Prisma's codes for a parent that does not exist or was purged concurrently. */
const missingParentCodes = new Set(['P2025', 'P2003'])

export function evaluationStores(client: DatabaseClient) {
  return {
    evaluations: postgresEvaluationStore(client),
    annotations: postgresAnnotationStore(client),
    scores: postgresScoreStore(client),
  }
}

function postgresEvaluationStore(client: DatabaseClient): EvaluationStore {
  return {
    async list(workspaceId, { archived = false, ...filter }) {
      const where = { ...filter, workspaceId, ...(archived ? {} : { archivedAt: null }) }
      return (await client.evaluation.findMany({ where, orderBy: newestFirst })).map(toEvaluation)
    },
    async listByUuids(workspaceId, uuids) {
      const rows = await client.evaluation.findMany({ where: { workspaceId, uuid: { in: [...uuids] } } })
      return rows.map(toEvaluation)
    },
    async findOptional(workspaceId, uuid) {
      const row = await client.evaluation.findFirst({ where: { workspaceId, uuid } })
      return row && toEvaluation(row)
    },
    async create(workspaceId, evaluation) {
      await client.evaluation.create({ data: rowOf(workspaceId, evaluation) })
    },
    count: (workspaceId, projectId) => client.evaluation.count({ where: { workspaceId, projectId } }),
    async archive(workspaceId, uuid, archivedAt) {
      await client.evaluation.updateMany({ where: { workspaceId, uuid }, data: { archivedAt } })
    },
    async findOrCreate(workspaceId, evaluation) {
      const data = rowOf(workspaceId, evaluation)
      // Waits for a concurrent first use, and then finds its row.
      await client.evaluation.createMany({ data: [data], skipDuplicates: true })
      const { projectId, builtIn } = evaluation
      const where = { projectId_builtIn: { projectId, builtIn } }
      return (await client.evaluation.findUniqueOrThrow({ where, select: { uuid: true } })).uuid
    },
  }
}

function rowOf(workspaceId: number, { configuration, checks, ...evaluation }: Evaluation) {
  const columns = { configuration: toJson(configuration), checks: checks === null ? Prisma.DbNull : toJson(checks) }
  return { ...evaluation, workspaceId, ...columns }
}

function postgresAnnotationStore(client: DatabaseClient): AnnotationStore {
  return {
    async list(workspaceId, conversationUuid, states) {
      const where = { workspaceId, conversationUuid, ...(states === 'all' ? {} : { state: 'scored' }) }
      const rows = await client.annotation.findMany({ where, orderBy: newestFirst })
      const ids = [...new Set(rows.map(({ authorId }) => authorId))]
      const authors = new Map(
        (await client.author.findMany({ where: { id: { in: ids } } })).map((one) => [one.id, one]),
      )
      return rows.map((row) => ({ ...toAnnotation(row), author: authors.get(row.authorId) ?? null }))
    },
    async create(workspaceId, { metadata, conversationUuid, evaluationUuid, ...annotation }) {
      try {
        await client.annotation.create({
          data: {
            ...annotation,
            workspaceId,
            metadata: toJson(metadata),
            conversation: { connect: { uuid: conversationUuid, deletedAt: null } },
            evaluation: { connect: { uuid: evaluationUuid } },
          },
          select: { id: true },
        })
        return true
      } catch (error) {
        if (missingParentCodes.has(codeOf(error) ?? '')) return false
        throw error
      }
    },
    async deleteLabels(workspaceId, own) {
      return (await client.annotation.deleteMany({ where: { ...own, workspaceId, source: 'person' } })).count
    },
    async deleteOf({ conversationUuid, evaluationUuid, by }) {
      await client.annotation.deleteMany({ where: { conversationUuid, evaluationUuid, by, source: 'user' } })
    },
  }
}

function toEvaluation({ id: _id, configuration, checks, ...row }: EvaluationRow): Evaluation {
  return {
    ...row,
    builtIn: row.builtIn as Evaluation['builtIn'],
    type: row.type as Evaluation['type'],
    metric: row.metric as Evaluation['metric'],
    configuration: fromJson(configuration),
    checks: fromJson(checks),
  }
}

function toAnnotation({ id: _id, workspaceId: _workspaceId, metadata, ...row }: AnnotationRow): Annotation {
  return { ...row, metadata: fromJson(metadata) } as Annotation
}
