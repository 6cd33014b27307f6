/** Tags and notes of conversations. Both go with their conversation. */

import { LIMITS } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import type { StoredConversation } from '../runs/ports.ts'
import { ownTags } from '../runs/start-run.ts'
import { type ConversationAddress, type FindDeps, findConversation } from './find-conversation.ts'
import type { Labels, TagUse } from './ports.ts'

interface LabelInput extends ConversationAddress {
  /** Replace all tags, except that of feedback. */
  tags?: readonly string[]
  /** An empty text removes the note. */
  note?: string
}

export type LabeledConversation = StoredConversation & Labels

/** @throws AppError NotFoundError; BadRequestError for a reserved tag. */
export async function labelConversation(
  deps: FindDeps & Needs<'transaction' | 'clock'>,
  input: LabelInput,
): Promise<LabeledConversation> {
  const { caller, note } = input
  const tags = input.tags && ownTags(input.tags)
  const conversation = await findConversation(deps, input)
  const authorId = caller.author.id
  const at = deps.clock.now()
  const labels = await deps.transaction(async ({ labels: store }) => {
    if (!(await store.lock(caller.workspaceId, conversation.uuid))) throw refuse('unknown-conversation')
    if (tags) await store.replaceTags(conversation, tags, authorId)
    if (note !== undefined) await store.saveNote(conversation.uuid, note === '' ? null : { text: note, authorId, at })
    return store.find(conversation.uuid)
  })
  return { ...conversation, ...labels }
}

const shownDays = 30

/** The tags of the last 30 days, the most frequent first. @throws AppError NotFoundError for the project. */
export async function listTags(
  deps: Needs<'stores' | 'liveCache' | 'clock'>,
  { caller, projectId }: { caller: Caller; projectId: number },
): Promise<TagUse[]> {
  await findProject(deps, caller, projectId)
  const since = new Date(deps.clock.now().getTime() - shownDays * 86_400_000)
  return deps.stores.labels.listUses(projectId, since, LIMITS.listedTags)
}
