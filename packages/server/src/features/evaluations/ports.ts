import type { ConversationFilter } from '../conversations/ports.ts'
import type { Evaluation } from './evaluation.ts'

/** A person's score for a conversation. Annotations are immutable. The newest one of each evaluation counts. */
export interface Annotation {
  uuid: string
  conversationUuid: string
  evaluationUuid: string
  versionUuid: string
  authorId: number
  score: number
  /** An integer from 0 to 100. */
  normalizedScore: number
  hasPassed: boolean
  metadata: Record<string, unknown>
  createdAt: Date
}

export type EvaluationFilter = Pick<ConversationFilter, 'projectId' | 'documentUuid'>

export interface EvaluationStore {
  list(workspaceId: number, filter: EvaluationFilter): Promise<Evaluation[]>
  findOptional(workspaceId: number, uuid: string): Promise<Evaluation | null>
  create(workspaceId: number, evaluation: Evaluation): Promise<void>
}

export interface AnnotationStore {
  /** Newest first. */
  list(workspaceId: number, conversationUuid: string): Promise<Annotation[]>
  /** Returns false and writes nothing if the conversation or the evaluation was deleted. */
  create(workspaceId: number, annotation: Annotation): Promise<boolean>
}
