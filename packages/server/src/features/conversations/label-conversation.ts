/** Tags and notes of conversations. Both go with their conversation. */

import { LIMITS } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import { ownTags } from '../runs/start-run.ts'
import { type ConversationAddress, findConversationFacts } from './find-conversation.ts'
import type { Labels, TagUse } from './ports.ts'

interface LabelInput extends ConversationAddress {
  /** Replace all tags, except that of feedback. */
  tags?: readonly string[]
  /** Change the tags of this moment, or `tags`. */
  addTags?: readonly string[]
  removeTags?: readonly string[]
  /** An empty text removes the note. */
  note?: string
}

export interface LabeledConversation extends Labels {
  uuid: string
}

/** @throws AppError NotFoundError; BadRequestError for a reserved tag or too many tags. */
export async function labelConversation(
  deps: Needs<'stores' | 'liveCache' | 'transaction' | 'clock'>,
  input: LabelInput,
): Promise<LabeledConversation> {
  const { caller, note } = input
  const tags = input.tags && ownTags(input.tags)
  const added = ownTags(input.addTags ?? [])
  const removed = ownTags(input.removeTags ?? [])
  const conversation = await findConversationFacts(deps, input)
  const { uuid } = conversation
  const authorId = caller.author.id
  return deps.transaction(async ({ labels: store }) => {
    if (!(await store.lock(caller.workspaceId, uuid))) throw refuse('unknown-conversation')
    const now = (await store.find(uuid)).tags
    const next = new Set([...(tags ?? now).filter((tag) => !removed.includes(tag)), ...added])
    if (next.size > LIMITS.tags)
      throw refuse('invalid-body', issueAt('addTags', `must leave at most ${LIMITS.tags} tags`))
    await store.changeTags(conversation, {
      added: [...next].filter((tag) => !now.includes(tag)),
      removed: now.filter((tag) => !next.has(tag)),
      authorId,
    })
    const at = deps.clock.now()
    if (note !== undefined) await store.saveNote(uuid, note === '' ? null : { text: note, authorId, at })
    return { uuid, ...(await store.find(uuid)) }
  })
}

const shownDays = 30

/** The newest tags of the last 30 days, the most frequent first. @throws AppError NotFoundError for the project. */
export async function listTags(
  deps: Needs<'stores' | 'liveCache' | 'clock'>,
  { caller, projectId }: { caller: Caller; projectId: number },
): Promise<TagUse[]> {
  await findProject(deps, caller, projectId)
  const since = new Date(deps.clock.now().getTime() - shownDays * 86_400_000)
  return deps.stores.labels.listUses(projectId, since, LIMITS.listedTags)
}
