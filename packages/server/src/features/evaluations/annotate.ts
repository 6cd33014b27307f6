import { randomUUID } from 'node:crypto'
import type { AnnotateBody } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import { type ConversationAddress, type FindDeps, findConversation } from '../conversations/find-conversation.ts'
import type { Needs } from '../deps.ts'
import { resolveVersion } from '../documents/version-ref.ts'
import { type Annotation, readScore } from './evaluation.ts'
import { findEvaluation } from './find-evaluation.ts'

interface AnnotateInput extends Omit<AnnotateBody, 'versionUuid'>, ConversationAddress {
  evaluationUuid: string
  /** A version uuid or `live`. The default is the conversation's version. */
  versionRef?: string
}

/** @throws AppError NotFoundError for an unknown id or version; UnprocessableEntityError for an invalid score. */
export async function annotate(
  deps: FindDeps & Needs<'stores' | 'transaction' | 'liveCache' | 'clock'>,
  input: AnnotateInput,
): Promise<Annotation> {
  const { caller, score, versionRef, metadata = {}, context } = input
  const conversation = await findConversation(deps, input)
  const evaluation = await findEvaluation(deps, input)
  const { projectId } = conversation
  const isOfDocument = evaluation.documentUuid === null || evaluation.documentUuid === conversation.documentUuid
  if (evaluation.projectId !== projectId || !isOfDocument) throw refuse('unknown-evaluation')
  // The conversation's own version may be a draft that was deleted since.
  const isOwn = versionRef === undefined || versionRef.toLowerCase() === conversation.versionUuid
  const judged = isOwn ? undefined : await resolveVersion(deps, { caller, projectId, versionRef })
  const annotation: Annotation = {
    uuid: randomUUID(),
    conversationUuid: conversation.uuid,
    evaluationUuid: evaluation.uuid,
    versionUuid: judged?.version.uuid ?? conversation.versionUuid,
    authorId: caller.author.id,
    score,
    ...readScore(score, evaluation),
    metadata: context === undefined ? metadata : { ...metadata, context },
    createdAt: deps.clock.now(),
  }
  return deps.transaction(async ({ annotations }) => {
    const isWritten = await annotations.create(caller.workspaceId, annotation)
    if (!isWritten) throw refuse('unknown-conversation')
    return annotation
  })
}
