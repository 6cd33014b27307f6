/** The metric of an evaluation: `binary` takes 0 or 1, `rating` a number in a range. */
export const EVALUATION_METRICS = ['binary', 'rating'] as const
export type EvaluationMetric = (typeof EVALUATION_METRICS)[number]

/**
 * How to read the scores of an evaluation. Ratings and thresholds belong to the metric `rating`.
 *
 * @example { reverseScale: false, minRating: 1, maxRating: 5, minThreshold: 4 }
 */
export interface EvaluationConfiguration {
  /** Low scores are good scores. Default: false. */
  reverseScale?: boolean
  criteria?: string
  passDescription?: string
  failDescription?: string
  /** Default: 1. */
  minRating?: number
  /** Above `minRating`. Default: 5. */
  maxRating?: number
  /** The lowest score that passes. Default: `minRating`. */
  minThreshold?: number
  /** The highest score that passes. Default: `maxRating`. */
  maxThreshold?: number
}

/**
 * The body that creates an evaluation.
 *
 * @example { projectId: 1, name: 'Helpful', metric: 'rating', configuration: { minThreshold: 4 } }
 */
export interface CreateEvaluationBody {
  projectId: number
  /** If absent, every prompt of the project. */
  documentUuid?: string
  name: string
  description?: string
  metric: EvaluationMetric
  configuration?: EvaluationConfiguration
}

/** A way for people to score conversations. */
export interface Evaluation {
  uuid: string
  projectId: number
  /** `null` means every prompt of the project. */
  documentUuid: string | null
  name: string
  description: string | null
  type: 'human'
  metric: EvaluationMetric
  /** The given configuration with all defaults. */
  configuration: Record<string, unknown>
  createdAt: string
  updatedAt: string
}

export interface ListEvaluationsQuery {
  projectId?: string
  documentUuid?: string
}

/**
 * The body that scores a conversation.
 *
 * @example { score: 4, metadata: { reason: 'Polite, and it answers the question' } }
 */
export interface AnnotateBody {
  /** Binary: 0 or 1. Rating: in the range of the evaluation. */
  score: number
  /** The version that is judged, or `live`. Default: the version that the conversation ran on. */
  versionUuid?: string
  /** Stored with the annotation; `reason` must be a string. */
  metadata?: Record<string, unknown>
  /** Stored in `metadata`. */
  context?: Record<string, unknown>
}

/** The score of a conversation. */
export interface Annotation {
  uuid: string
  /** The score as sent. */
  score: number
  /** 0 to 100; 100 is best on every scale. */
  normalizedScore: number
  metadata: Record<string, unknown>
  hasPassed: boolean
  error: string | null
  versionUuid: string
  conversationUuid: string
  evaluationUuid: string
  createdAt: string
  updatedAt: string
}
