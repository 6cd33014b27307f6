import type { Author } from '../../shared/caller.ts'
import type { StoredConversation } from '../runs/ports.ts'
import type { RunStatus, StepResponse } from '../runs/run.ts'
import type { Annotation } from './evaluation.ts'
import type { JudgedAnswer } from './judge/agreement.ts'

/** The latest run of a conversation, as far as scores need it. */
export interface RunToScore {
  conversationUuid: string
  projectId: number
  documentUuid: string
  versionUuid: string
  apiKeyId: number | null
  authorId: number | null
  /** Of its conversation. A judge's conversation has the same. */
  customIdentifier: string | null
  status: RunStatus
  /** Undefined for a run that failed. */
  response: Pick<StepResponse, 'text' | 'object'> | undefined
  hasToolRequests: boolean
  error: { code: string; details: Record<string, unknown> } | null
  /** Undefined without a known price. */
  costUsd: number | undefined
  durationMs: number
  endedAt: Date | null
}

/** The scores of one answer by one evaluation. */
export interface AnswerScore {
  conversationUuid: string
  evaluationUuid: string
  /** The newest score by a person. Its author is null if the person was deleted. */
  label: { hasPassed: boolean; author: Author | null; createdAt: Date } | null
  /** The newest automatic score. */
  auto: Pick<Annotation, 'hasPassed' | 'code'> | null
}

export type UnlabeledConversation = Pick<
  StoredConversation,
  'uuid' | 'documentUuid' | 'versionUuid' | 'path' | 'status' | 'origin' | 'via' | 'createdAt'
>

interface EndedFilter {
  projectId: number
  /** Null means every prompt of the project. */
  documentUuid: string | null
  tag: string | undefined
  from: Date | undefined
  after: Pick<UnlabeledConversation, 'createdAt' | 'uuid'> | undefined
}

export interface ScoreStore {
  /** Returns null for an unknown or deleted conversation. */
  findRun(workspaceId: number, conversationUuid: string): Promise<RunToScore | null>
  /** The item of the answer keeps the conversation of its judge, whose cost counts. */
  noteJudge(workspaceId: number, conversationUuid: string, judgeConversationUuid: string): Promise<void>
  /** Lists the hashes of the automatic scores of a conversation. */
  listHashes(
    workspaceId: number,
    conversationUuid: string,
  ): Promise<{ evaluationUuid: string; scorerHash: string | null }[]>
  /** Deletes the automatic scores of the answer by the evaluation that have another hash. */
  deleteOthers(
    workspaceId: number,
    kept: Pick<Annotation, 'conversationUuid' | 'evaluationUuid' | 'scorerHash'>,
  ): Promise<void>
  /** Stores nothing if the score exists, or if the conversation or the evaluation was deleted. */
  insert(workspaceId: number, annotation: Annotation): Promise<void>
  /** Lists the answers that have a score. Every reader of scores uses it, so that all agree on which one counts. */
  list(
    workspaceId: number,
    conversationUuids: readonly string[],
    evaluationUuids: readonly string[],
  ): Promise<AnswerScore[]>
  /** Lists the answers with a label of a person and a verdict of the judge with this fingerprint, newest label first. */
  listJudged(workspaceId: number, evaluationUuid: string, fingerprint: string): Promise<JudgedAnswer[]>
  /** Lists ended conversations, newest first, without those of judges. */
  listEnded(workspaceId: number, filter: EndedFilter, limit: number): Promise<UnlabeledConversation[]>
}
