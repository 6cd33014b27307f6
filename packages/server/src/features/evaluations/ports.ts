/** What evaluations need from storage. */
import type { Annotation } from './annotation.ts'
import type { Evaluation } from './evaluation.ts'

export interface EvaluationFilter {
  projectId?: number
  documentUuid?: string
}

export interface EvaluationStore {
  /** Newest first. */
  list(workspaceId: number, filter: EvaluationFilter): Promise<Evaluation[]>
  findOptional(workspaceId: number, uuid: string): Promise<Evaluation | null>
  create(workspaceId: number, evaluation: Evaluation): Promise<void>
  /** Whether any version of the project ever had the document. Evaluations outlive single versions. */
  knowsDocument(workspaceId: number, projectId: number, documentUuid: string): Promise<boolean>
}

export interface AnnotationStore {
  /** Newest first. */
  list(workspaceId: number, conversationUuid: string): Promise<Annotation[]>
  /** False, and nothing written, when the conversation was deleted. */
  create(workspaceId: number, annotation: Annotation): Promise<boolean>
}
