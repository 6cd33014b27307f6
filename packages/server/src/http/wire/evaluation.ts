import type { Annotation as AnnotationBody, Evaluation as EvaluationBody } from '@stet/contract'
import type { Evaluation } from '../../features/evaluations/evaluation.ts'
import type { Annotation } from '../../features/evaluations/ports.ts'
import { timestamp } from './timestamp.ts'

export function evaluationBody(evaluation: Evaluation): EvaluationBody {
  return {
    uuid: evaluation.uuid,
    projectId: evaluation.projectId,
    documentUuid: evaluation.documentUuid,
    name: evaluation.name,
    description: evaluation.description,
    type: 'human',
    metric: evaluation.metric,
    configuration: { ...evaluation.configuration },
    createdAt: timestamp(evaluation.createdAt),
    updatedAt: timestamp(evaluation.updatedAt),
  }
}

export function annotationBody(annotation: Annotation): AnnotationBody {
  return {
    uuid: annotation.uuid,
    score: annotation.score,
    normalizedScore: annotation.normalizedScore,
    metadata: annotation.metadata,
    hasPassed: annotation.hasPassed,
    // Published clients want the key even where nothing can fail.
    error: null,
    versionUuid: annotation.versionUuid,
    conversationUuid: annotation.conversationUuid,
    evaluationUuid: annotation.evaluationUuid,
    createdAt: timestamp(annotation.createdAt),
    updatedAt: timestamp(annotation.createdAt),
  }
}
