import type {
  Agreement as AgreementBody,
  Annotation as AnnotationBody,
  Evaluation as EvaluationBody,
  Feedback,
  ListedAnnotation as ListedAnnotationBody,
  QueueItem,
} from '@stet/contract/vocabulary'
import type { GivenFeedback } from '../features/evaluations/annotate.ts'
import type { Annotation, Evaluation, ListedAnnotation, ScoredAnnotation } from '../features/evaluations/evaluation.ts'
import type { JudgeAgreement } from '../features/evaluations/judge/read-agreement.ts'
import type { UnlabeledConversation } from '../features/evaluations/ports.ts'

export function evaluationBody(evaluation: Evaluation): EvaluationBody {
  return {
    uuid: evaluation.uuid,
    projectId: evaluation.projectId,
    documentUuid: evaluation.documentUuid,
    name: evaluation.name,
    description: evaluation.description,
    type: evaluation.type,
    builtIn: evaluation.builtIn,
    metric: evaluation.metric,
    configuration: { ...evaluation.configuration },
    checks: evaluation.checks,
    judgeDocumentUuid: evaluation.judgeDocumentUuid,
    archivedAt: evaluation.archivedAt?.toISOString() ?? null,
    createdAt: evaluation.createdAt.toISOString(),
    updatedAt: evaluation.updatedAt.toISOString(),
  }
}

export function annotationBody(annotation: ScoredAnnotation): AnnotationBody {
  const { score, normalizedScore, hasPassed } = annotation
  const { uuid, metadata, ...rest } = sharedBody(annotation)
  // The order of the schema, so that a replayed response has the bytes of the first one. Legacy clients require the
  // error, although a score by a person has none.
  return { uuid, score, normalizedScore, metadata, hasPassed, error: null, ...rest }
}

export function listedAnnotationBody(annotation: ListedAnnotation): ListedAnnotationBody {
  const { state, code, source, author, judgeConversationUuid, score, normalizedScore, hasPassed } = annotation
  return {
    ...sharedBody(annotation),
    ...{ score, normalizedScore, hasPassed, error: code, state, source, judgeConversationUuid },
    author: author && { id: author.id, name: author.name, email: author.email },
  }
}

function sharedBody(annotation: Annotation) {
  const { uuid, metadata, by, versionUuid, conversationUuid, evaluationUuid } = annotation
  const createdAt = annotation.createdAt.toISOString()
  return {
    ...{ uuid, versionUuid, conversationUuid, evaluationUuid, createdAt, updatedAt: createdAt },
    metadata: by === null ? metadata : { ...metadata, by },
  }
}

export function feedbackBody({ value, comment, createdAt }: GivenFeedback): Feedback {
  return { value, comment, createdAt: createdAt.toISOString() }
}

export function agreementBody({ evaluation, fingerprint, ...agreement }: JudgeAgreement): AgreementBody {
  const { truePass, trueFail, isShown, beforeEdit, disagreements } = agreement
  return {
    evaluationUuid: evaluation.uuid,
    judge: fingerprint,
    truePass: { ...truePass },
    trueFail: { ...trueFail },
    isShown,
    beforeEdit,
    disagreements: disagreements.map(({ conversationUuid, label, verdict }) => ({
      conversationUuid,
      label: {
        hasPassed: label.hasPassed,
        reason: label.reason,
        author: label.author && { id: label.author.id, name: label.author.name, email: label.author.email },
        createdAt: label.createdAt.toISOString(),
      },
      verdict: { hasPassed: verdict.hasPassed, reason: verdict.reason },
    })),
  }
}

export function queueItemBody(conversation: UnlabeledConversation): QueueItem {
  const { uuid, documentUuid, versionUuid, path, status, origin, via, createdAt } = conversation
  return { uuid, documentUuid, versionUuid, path, status, origin, via, createdAt: createdAt.toISOString() }
}
