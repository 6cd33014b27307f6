/** Annotations, and the storage of evaluations. */
import type { Evaluation } from './evaluation.ts'

/** A person's score of a conversation. It never changes; the newest one of an evaluation counts. */
export interface Annotation {
  uuid: string
  conversationUuid: string
  evaluationUuid: string
  versionUuid: string
  authorId: number
  /** As sent. */
  score: number
  /** 0 to 100. */
  normalizedScore: number
  hasPassed: boolean
  metadata: Record<string, unknown>
  createdAt: Date
}

export interface EvaluationFilter {
  projectId?: number
  documentUuid?: string
}

export interface EvaluationStore {
  /** Newest first. */
  list(workspaceId: number, filter: EvaluationFilter): Promise<Evaluation[]>
  findOptional(workspaceId: number, uuid: string): Promise<Evaluation | null>
  create(workspaceId: number, evaluation: Evaluation): Promise<void>
  /** Whether any version of the project has the document. Evaluations outlive single versions. */
  knowsDocument(workspaceId: number, projectId: number, documentUuid: string): Promise<boolean>
}

export interface AnnotationStore {
  /** Newest first. */
  list(workspaceId: number, conversationUuid: string): Promise<Annotation[]>
  /** False, and nothing is written, if the conversation or the evaluation was deleted. */
  create(workspaceId: number, annotation: Annotation): Promise<boolean>
}
