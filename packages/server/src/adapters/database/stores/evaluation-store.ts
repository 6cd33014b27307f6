/** Evaluations and annotations in the database. */
import type {
  Annotation as AnnotationRow,
  Evaluation as EvaluationRow,
  Prisma,
} from '../../../../generated/prisma/client.ts'
import type { Annotation } from '../../../features/evaluations/annotation.ts'
import type { Evaluation, Metric } from '../../../features/evaluations/evaluation.ts'
import type { AnnotationStore, EvaluationStore } from '../../../features/evaluations/ports.ts'
import { storableJson } from '../../../shared/storable-json.ts'
import type { DatabaseClient } from '../database.ts'

// Ids count up as rows are made: clocks may stand still between two of them.
const newestFirst = { id: 'desc' } as const

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
      const data = { ...evaluation, workspaceId, configuration: configuration as unknown as Prisma.InputJsonObject }
      await client.evaluation.create({ data })
    },
    async knowsDocument(workspaceId, projectId, documentUuid) {
      const where = { projectId, documentUuid, project: { workspaceId } }
      return (await client.document.findFirst({ where, select: { id: true } })) !== null
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
    async create(workspaceId, { metadata, ...annotation }) {
      const { uuid, conversationUuid, evaluationUuid, versionUuid, authorId, score, normalizedScore } = annotation
      // One statement finds the conversation and writes: a deleted one takes no annotation.
      const written = await client.$executeRaw`
        INSERT INTO annotation (uuid, workspace_id, conversation_uuid, evaluation_uuid, version_uuid, author_id, score,
          normalized_score, has_passed, metadata, created_at)
        SELECT ${uuid}::uuid, ${workspaceId}, c.uuid, ${evaluationUuid}::uuid, ${versionUuid}::uuid, ${authorId},
          ${score}::float8,
          ${normalizedScore}, ${annotation.hasPassed}, ${storableJson(metadata)}::json, ${annotation.createdAt}
        FROM conversation c WHERE c.uuid = ${conversationUuid}::uuid AND c.deleted_at IS NULL`
      return written === 1
    },
  }
}

// JSON columns and metrics hold what `create` wrote into them, nothing else.
function toEvaluation({ id: _id, metric, configuration, ...row }: EvaluationRow): Evaluation {
  return {
    ...row,
    metric: metric as Metric,
    configuration: configuration as unknown as Evaluation['configuration'],
  }
}

function toAnnotation({ id: _id, workspaceId: _workspaceId, metadata, ...row }: AnnotationRow): Annotation {
  return { ...row, metadata: metadata as Annotation['metadata'] }
}
