/** A `binary` score is 0 or 1. A `rating` is a number in a range. */
export const EVALUATION_METRICS = ['binary', 'rating'] as const
export type EvaluationMetric = (typeof EVALUATION_METRICS)[number]

/**
 * Defines how scores are interpreted. Ratings and thresholds apply only to the metric `rating`.
 * @example { reverseScale: false, minRating: 1, maxRating: 5, minThreshold: 4 }
 */
export interface EvaluationConfiguration {
  /** If true, low scores are good. Default: false. */
  reverseScale?: boolean
  criteria?: string
  passDescription?: string
  failDescription?: string
  /** Default: 1. */
  minRating?: number
  /** Must be greater than `minRating`. Default: 5. */
  maxRating?: number
  /** The lowest score that passes. Default: `minRating`. */
  minThreshold?: number
  /** The highest score that passes. Default: `maxRating`. */
  maxThreshold?: number
}

/** @example { projectId: 1, name: 'Helpful', metric: 'rating', configuration: { minThreshold: 4 } } */
export interface CreateEvaluationBody {
  projectId: number
  /** Default: every prompt of the project. */
  documentUuid?: string
  name: string
  description?: string
  metric: EvaluationMetric
  configuration?: EvaluationConfiguration
}

export interface Evaluation {
  uuid: string
  projectId: number
  /** Null means every prompt of the project. */
  documentUuid: string | null
  name: string
  description: string | null
  type: 'human'
  metric: EvaluationMetric
  configuration: Record<string, unknown>
  createdAt: string
  updatedAt: string
}

export interface ListEvaluationsQuery {
  projectId?: string
  documentUuid?: string
}

/** @example { score: 4, metadata: { reason: 'Polite, and it answers the question' } } */
export interface AnnotateBody {
  /** Binary: 0 or 1. Rating: within the evaluation's range. */
  score: number
  /** A uuid or `live`. Default: the conversation's version. */
  versionUuid?: string
  /** Stored with the annotation. `reason` must be a string. */
  metadata?: Record<string, unknown>
  /** Stored in `metadata`. */
  context?: Record<string, unknown>
}

export interface Annotation {
  uuid: string
  /** The score as sent. */
  score: number
  /** An integer from 0 to 100. 100 is best on every scale. */
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
