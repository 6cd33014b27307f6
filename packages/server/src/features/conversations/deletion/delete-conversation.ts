/** Deletes an ended conversation: no reader finds it any more, and its rows are purged in the background. */
import { conflict, notFound } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { isActive } from '../attach-conversation.ts'
import { type ConversationAddress, type FindDeps, findStored } from '../find-conversation.ts'

/** @throws AppError NotFoundError; ConflictError while a run is active. */
export async function deleteConversation(
  deps: FindDeps & Needs<'deletions' | 'deletionWork' | 'log'>,
  address: ConversationAddress,
): Promise<{ uuid: string }> {
  const found = await findStored(deps, address)
  const { uuid, workspaceId } = found
  if (isActive(found)) throw busy()
  if (!(await deps.deletions.hideConversation(workspaceId, uuid))) {
    // A chat or another deletion was faster; what memory holds may be older than that.
    if (await deps.runs.findConversation(workspaceId, uuid)) throw busy()
    throw notFound('Conversation not found')
  }
  // A chat may have ended in the database a moment ago: its process remembers the conversation only after that.
  await deps.activeRuns.find(workspaceId, uuid)?.ended
  deps.activeRuns.forget(uuid)
  deps.log.info('audit.conversation-deleted', {
    workspaceId,
    conversationUuid: uuid,
    by: address.caller.apiKeyId,
  })
  deps.deletionWork.wake()
  return { uuid }
}

function busy(): Error {
  return conflict('The conversation is busy', { retryAfter: 1 })
}
