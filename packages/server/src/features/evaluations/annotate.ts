/** Scores of conversations: those that people give, and the feedback of an application's users. */

import { randomUUID } from 'node:crypto'
import type { AnnotateBody, FeedbackBody } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import { type ConversationAddress, findConversationFacts } from '../conversations/find-conversation.ts'
import type { Needs } from '../deps.ts'
import { resolveVersion } from '../documents/version-ref.ts'
import { builtInEvaluation } from './built-in.ts'
import { readScore, type ScoredAnnotation } from './evaluation.ts'
import { findEvaluation } from './find-evaluation.ts'

const scoredByHand = { state: 'scored', code: null, judgeConversationUuid: null, scorerHash: null } as const

interface AnnotateInput extends Omit<AnnotateBody, 'versionUuid'>, ConversationAddress {
  evaluationUuid: string
  /** A version uuid or `live`. The default is the conversation's version. */
  versionRef?: string
}

/**
 * @throws AppError NotFoundError for an unknown id or version; UnprocessableEntityError for an invalid score, and for a
 * built-in evaluation.
 */
export async function annotate(
  deps: Needs<'stores' | 'transaction' | 'liveCache' | 'clock'>,
  input: AnnotateInput,
): Promise<ScoredAnnotation> {
  const { caller, score, versionRef, metadata = {}, context } = input
  const { conversation, evaluation } = await findBoth(deps, input)
  const { projectId } = conversation
  if (evaluation.builtIn === 'feedback') throw refuse('built-in-evaluation', { name: evaluation.name })
  // The conversation's own version may be a draft that was deleted since.
  const isOwn = versionRef === undefined || versionRef.toLowerCase() === conversation.versionUuid
  const judged = isOwn ? undefined : await resolveVersion(deps, { caller, projectId, versionRef })
  const annotation: ScoredAnnotation = {
    uuid: randomUUID(),
    conversationUuid: conversation.uuid,
    evaluationUuid: evaluation.uuid,
    versionUuid: judged?.version.uuid ?? conversation.versionUuid,
    authorId: caller.author.id,
    score,
    ...readScore(score, evaluation),
    metadata: context === undefined ? metadata : { ...metadata, context },
    ...{ source: 'person', by: null, ...scoredByHand },
    createdAt: deps.clock.now(),
  }
  return deps.transaction(async ({ annotations }) => {
    const isWritten = await annotations.create(caller.workspaceId, annotation)
    if (!isWritten) throw refuse('unknown-conversation')
    return annotation
  })
}

/** Deletes the caller's own labels, so that another person's label or the automatic score counts. @throws AppError NotFoundError. */
export async function removeLabel(
  deps: Needs<'stores' | 'singleWrite' | 'liveCache'>,
  input: ConversationAddress & { evaluationUuid: string },
): Promise<number> {
  const { conversation, evaluation } = await findBoth(deps, input)
  const { workspaceId, uuid: conversationUuid } = conversation
  const own = { conversationUuid, evaluationUuid: evaluation.uuid, authorId: input.caller.author.id }
  return deps.singleWrite(({ annotations }) => annotations.deleteLabels(workspaceId, own))
}

/** @throws AppError NotFoundError, also for an evaluation of another project or prompt. */
async function findBoth(deps: Needs<'stores' | 'liveCache'>, input: ConversationAddress & { evaluationUuid: string }) {
  const conversation = await findConversationFacts(deps, input)
  const evaluation = await findEvaluation(deps, input)
  const isOfDocument = evaluation.documentUuid === null || evaluation.documentUuid === conversation.documentUuid
  if (evaluation.projectId !== conversation.projectId || !isOfDocument) throw refuse('unknown-evaluation')
  return { conversation, evaluation }
}

export interface GivenFeedback {
  value: FeedbackBody['value']
  comment: string | null
  createdAt: Date
}

/**
 * Stores a user's verdict as an annotation of the project's evaluation `Feedback`, and as the tag that lists search by.
 * The verdict replaces the user's earlier one; of several users, the newest counts.
 * @throws AppError NotFoundError.
 */
export async function recordFeedback(
  deps: Needs<'stores' | 'liveCache' | 'transaction' | 'clock'>,
  { caller, value, comment, by, ...address }: FeedbackBody & ConversationAddress,
): Promise<GivenFeedback> {
  const conversation = await findConversationFacts(deps, { caller, ...address })
  const { uuid: conversationUuid, workspaceId, projectId, versionUuid } = conversation
  const score = value === 'up' ? 1 : 0
  return deps.transaction(async ({ annotations, evaluations, labels }) => {
    if (!(await labels.lock(workspaceId, conversationUuid))) throw refuse('unknown-conversation')
    // After the lock, so that times have the order of the verdicts.
    const createdAt = deps.clock.now()
    const evaluation = builtInEvaluation('feedback', { workspaceId, projectId, at: createdAt })
    const evaluationUuid = await evaluations.findOrCreate(workspaceId, evaluation)
    if (by !== undefined) await annotations.deleteOf({ conversationUuid, evaluationUuid, by })
    const isWritten = await annotations.create(workspaceId, {
      ...{ uuid: randomUUID(), conversationUuid, evaluationUuid, versionUuid, authorId: caller.author.id },
      ...{ score, ...readScore(score, evaluation), metadata: comment === undefined ? {} : { reason: comment } },
      ...{ source: 'user', by: by ?? null, createdAt, ...scoredByHand },
    })
    if (!isWritten) throw refuse('unknown-conversation')
    await labels.replaceFeedback(conversation, value, caller.author.id)
    return { value, comment: comment ?? null, createdAt }
  })
}
