import type { Annotation as AnnotationRow, Evaluation as EvaluationRow } from '../../../../generated/prisma/client.ts'
import type {
  Annotation,
  AnnotationStore,
  Evaluation,
  EvaluationStore,
} from '../../../features/evaluations/evaluation.ts'
import { type DatabaseClient, fromJson, toJson } from '../database.ts'
import { codeOf } from '../database-error.ts'

// Ordered by id, because two rows may share a millisecond.
const newestFirst = { id: 'desc' } as const

/** Prisma's codes for a parent that does not exist or was purged concurrently. */
const missingParentCodes = new Set(['P2025', 'P2003'])

export function postgresEvaluationStore(client: DatabaseClient): EvaluationStore {
  return {
    async list(workspaceId, filter) {
      const rows = await client.evaluation.findMany({ where: { ...filter, workspaceId }, orderBy: newestFirst })
      return rows.map(toEvaluation)
    },
    async findOptional(workspaceId, uuid) {
      const row = await client.evaluation.findFirst({ where: { workspaceId, uuid } })
      return row && toEvaluation(row)
    },
    async create(workspaceId, { configuration, ...evaluation }) {
      const data = { ...evaluation, workspaceId, configuration: toJson(configuration) }
      await client.evaluation.create({ data })
    },
    async findOrCreate(workspaceId, { configuration, ...evaluation }) {
      const data = { ...evaluation, workspaceId, configuration: toJson(configuration) }
      // Waits for a concurrent first use, and then finds its row.
      await client.evaluation.createMany({ data: [data], skipDuplicates: true })
      const where = { projectId_builtIn: { projectId: evaluation.projectId, builtIn: evaluation.builtIn } }
      return (await client.evaluation.findUniqueOrThrow({ where, select: { uuid: true } })).uuid
    },
  }
}

export function postgresAnnotationStore(client: DatabaseClient): AnnotationStore {
  return {
    async list(workspaceId, conversationUuid) {
      const where = { workspaceId, conversationUuid }
      const rows = await client.annotation.findMany({ where, orderBy: newestFirst })
      return rows.map(toAnnotation)
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
    async deleteOf({ conversationUuid, evaluationUuid, by }) {
      await client.annotation.deleteMany({ where: { conversationUuid, evaluationUuid, by, source: 'user' } })
    },
  }
}

function toEvaluation({ id: _id, builtIn, metric, configuration, ...row }: EvaluationRow): Evaluation {
  return {
    ...row,
    builtIn: builtIn as Evaluation['builtIn'],
    metric: metric as Evaluation['metric'],
    configuration: fromJson(configuration),
  }
}

function toAnnotation({ id: _id, workspaceId: _workspaceId, metadata, source, ...row }: AnnotationRow): Annotation {
  return { ...row, metadata: fromJson(metadata), source: source as Annotation['source'] }
}
