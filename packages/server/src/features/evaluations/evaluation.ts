import type {
  AnnotationSource,
  BuiltIn,
  Check,
  EvaluationConfiguration as ConfigurationInput,
  EvaluationMetric,
  EvaluationType,
} from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author } from '../../shared/caller.ts'
import type { ConversationFilter } from '../conversations/ports.ts'

/** Only the metric `rating` uses ratings and thresholds. Missing thresholds default to the ends of the range. */
export interface EvaluationConfiguration extends ConfigurationInput {
  reverseScale: boolean
}

export interface Evaluation {
  uuid: string
  workspaceId: number
  projectId: number
  /** Null means every prompt of the project. */
  documentUuid: string | null
  name: string
  description: string | null
  builtIn: BuiltIn | null
  type: EvaluationType
  metric: EvaluationMetric
  configuration: EvaluationConfiguration
  /** Of a rule. `checks` as a built-in evaluation scores the checks of each row, and has none of its own. */
  checks: Check[] | null
  /** The prompt of a judge. */
  judgeDocumentUuid: string | null
  archivedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** An evaluation that a project has at most once, and that no caller creates. */
export interface BuiltInEvaluation extends Evaluation {
  builtIn: BuiltIn
}

/** The annotations of people and users are always scored. An automatic one may be unscored, which is neither pass nor fail. */
export type Annotation = ScoredAnnotation | UnscoredAnnotation

/** Annotations are immutable. Of each evaluation, a person's newest one counts, otherwise the newest automatic one. */
interface AnnotationFacts {
  uuid: string
  conversationUuid: string
  evaluationUuid: string
  versionUuid: string
  authorId: number
  metadata: Record<string, unknown>
  /** `person` for a score that an API key gave, `user` for the feedback of an application's user. */
  source: AnnotationSource
  /** The application's id of that user. */
  by: string | null
  /** The run of the judge. */
  judgeConversationUuid: string | null
  /** Of what an automatic score depends on beside the answer. */
  scorerHash: string | null
  createdAt: Date
}

export interface ScoredAnnotation extends AnnotationFacts {
  state: 'scored'
  code: null
  score: number
  /** An integer from 0 to 100. */
  normalizedScore: number
  hasPassed: boolean
}

export interface UnscoredAnnotation extends AnnotationFacts {
  state: 'unscored'
  /** Why it is unscored. */
  code: string
  score: null
  normalizedScore: null
  hasPassed: null
}

/** An annotation with its author. */
export type ListedAnnotation = Annotation & { author: Author | null }

export interface EvaluationFilter extends Pick<ConversationFilter, 'projectId' | 'documentUuid'> {
  archived?: boolean
}

export interface EvaluationStore {
  /** Newest first. */
  list(workspaceId: number, filter: EvaluationFilter): Promise<Evaluation[]>
  listByUuids(workspaceId: number, uuids: readonly string[]): Promise<Evaluation[]>
  findOptional(workspaceId: number, uuid: string): Promise<Evaluation | null>
  create(workspaceId: number, evaluation: Evaluation): Promise<void>
  /** Counts archived ones, too. */
  count(workspaceId: number, projectId: number): Promise<number>
  /** Returns the uuid of the project's evaluation. Creates the given one if there is none. */
  findOrCreate(workspaceId: number, evaluation: BuiltInEvaluation): Promise<string>
  archive(workspaceId: number, uuid: string, archivedAt: Date | null): Promise<void>
}

export interface AnnotationStore {
  /** Newest first. `scored` leaves out unscored ones. */
  list(workspaceId: number, conversationUuid: string, states: 'scored' | 'all'): Promise<ListedAnnotation[]>
  /** Returns false and writes nothing if the conversation or the evaluation was deleted. */
  create(workspaceId: number, annotation: Annotation): Promise<boolean>
  /** Deletes the labels that the author gave this conversation. Returns how many. */
  deleteLabels(
    workspaceId: number,
    own: Pick<Annotation, 'conversationUuid' | 'evaluationUuid' | 'authorId'>,
  ): Promise<number>
  /** Deletes the user's earlier scores of this conversation. */
  deleteOf(user: Pick<Annotation, 'conversationUuid' | 'evaluationUuid' | 'by'>): Promise<void>
}

const defaultRange = { minRating: 1, maxRating: 5 } as const

/** Adds defaults and drops keys that the metric does not use. @throws AppError BadRequestError for an invalid range. */
export function completeConfiguration(metric: EvaluationMetric, given: ConfigurationInput): EvaluationConfiguration {
  const { minRating, maxRating, minThreshold, maxThreshold, ...texts } = { ...defaultRange, ...given }
  const configuration = { ...texts, reverseScale: given.reverseScale ?? false }
  if (metric === 'binary') return configuration
  assertRange(minRating, maxRating, minThreshold ?? minRating, maxThreshold ?? maxRating)
  return defined({ ...configuration, minRating, maxRating, minThreshold, maxThreshold })
}

function assertRange(minRating: number, maxRating: number, minThreshold: number, maxThreshold: number): void {
  if (minRating >= maxRating) throw refused('maxRating', 'must be above minRating')
  if (minThreshold < minRating || minThreshold > maxRating) throw refused('minThreshold', 'must be inside the range')
  if (maxThreshold < minRating || maxThreshold > maxRating) throw refused('maxThreshold', 'must be inside the range')
  if (minThreshold > maxThreshold) throw refused('maxThreshold', 'must not be below minThreshold')
}

function refused(key: string, message: string): Error {
  return refuse('invalid-body', issueAt(`configuration.${key}`, message))
}

/** @throws AppError UnprocessableEntityError with `details: {min, max}` for a score that the scale excludes. */
export function readScore(
  score: number,
  { metric, configuration }: Pick<Evaluation, 'metric' | 'configuration'>,
): { normalizedScore: number; hasPassed: boolean } {
  const { reverseScale } = configuration
  if (metric === 'binary') {
    if (score !== 0 && score !== 1) throw refuse('score-not-binary', { min: 0, max: 1 })
    return { normalizedScore: normalize(score, 0, 1, reverseScale), hasPassed: score === (reverseScale ? 0 : 1) }
  }
  const { minRating: min, maxRating: max, ...thresholds } = { ...defaultRange, ...configuration }
  const { minThreshold = min, maxThreshold = max } = thresholds
  if (!(score >= min && score <= max)) throw refuse('score-out-of-range', { min, max })
  const hasPassed = minThreshold <= score && score <= maxThreshold
  return { normalizedScore: normalize(score, min, max, reverseScale), hasPassed }
}

function normalize(score: number, min: number, max: number, reverseScale: boolean): number {
  const [lower, upper] = reverseScale ? [max, min] : [min, max]
  const percent = (Math.abs(score - lower) * 100) / Math.abs(upper - lower)
  // Floating point is inexact: 1.14 on a scale of 1 to 5 is 3.5%, but the computed value is slightly less.
  return Math.round(Number(percent.toFixed(9)))
}
