/** Lists a conversation's scores, newest first. */
import { type FindDeps, findConversation } from '../conversations/find-conversation.ts'
import type { Caller, Needs } from '../deps.ts'
import type { Annotation } from './annotation.ts'

/** @throws AppError NotFoundError `Conversation not found`. */
export async function listAnnotations(
  deps: FindDeps & Needs<'stores'>,
  input: { caller: Caller; conversationUuid: string },
): Promise<Annotation[]> {
  const { uuid } = await findConversation(deps, input)
  return deps.stores.annotations.list(input.caller.workspaceId, uuid)
}
