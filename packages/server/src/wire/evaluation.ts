import type { Annotation as AnnotationBody, Evaluation as EvaluationBody, Feedback } from '@stet/contract/vocabulary'
import type { GivenFeedback } from '../features/evaluations/annotate.ts'
import type { Annotation, Evaluation } from '../features/evaluations/evaluation.ts'

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
    createdAt: evaluation.createdAt.toISOString(),
    updatedAt: evaluation.updatedAt.toISOString(),
  }
}

export function annotationBody(annotation: Annotation): AnnotationBody {
  return {
    uuid: annotation.uuid,
    score: annotation.score,
    normalizedScore: annotation.normalizedScore,
    metadata: annotation.by === null ? annotation.metadata : { ...annotation.metadata, by: annotation.by },
    hasPassed: annotation.hasPassed,
    // Legacy clients require this field, although an annotation cannot fail.
    error: null,
    versionUuid: annotation.versionUuid,
    conversationUuid: annotation.conversationUuid,
    evaluationUuid: annotation.evaluationUuid,
    createdAt: annotation.createdAt.toISOString(),
    updatedAt: annotation.createdAt.toISOString(),
  }
}

export function feedbackBody({ value, comment, createdAt }: GivenFeedback): Feedback {
  return { value, comment, createdAt: createdAt.toISOString() }
}
