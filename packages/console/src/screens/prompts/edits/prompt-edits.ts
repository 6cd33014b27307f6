import type { Change, PushResult, TreeItem } from '@stet/sdk'
import { type DraftForEdit, draftForEdit } from '../../../app/frame/switches/draft-for-edit.ts'
import { treeQuery, versionsQuery } from '../../../app/queries.ts'
import { queryClient, stet } from '../../../app/session.ts'
import { openBuffers } from '../../../editor/buffer/open-buffers.ts'
import type { Move } from '../tree/tree.ts'

/** Where a change is made. Changes on live go into a draft. */
export interface EditPlace {
  projectId: number
  /** `live`, or a version's uuid. */
  versionUuid: string
  isLive: boolean
}

export interface Edited {
  /** The version that holds the change. */
  versionUuid: string
  /** The draft that was chosen for a change made on live. */
  draft: DraftForEdit | null
  /** The prompts of the version after the change. */
  tree: readonly TreeItem[]
}

/**
 * Creates a prompt.
 *
 * @throws ConflictError if the path has a prompt, BadRequestError if the path is not valid
 */
export async function createPrompt(place: EditPlace, path: string, content: string): Promise<Edited> {
  const changes: Change[] = [{ path, status: 'added', content, baseHash: '' }]
  const done = await edited(
    place,
    async (versionUuid, created) => created ?? push(place, versionUuid, changes),
    changes,
  )
  openBuffers.retryMissing({ ...place, versionUuid: done.versionUuid, path })
  return done
}

/**
 * Moves prompts in one push. Saves the text in their editors first, if it can be saved: it follows its prompt in any
 * case.
 *
 * @throws ConflictError if a new path has a prompt
 */
export async function movePrompts(place: EditPlace, moves: readonly Move[]): Promise<Edited & { broken: string[] }> {
  await Promise.allSettled(
    moves.map(({ from, path }) => {
      const buffer = openBuffers.find({ ...place, path: from })
      if (buffer) buffer.ownPath = path
      return buffer?.save()
    }),
  )
  let broken: string[] = []
  const done = await edited(
    place,
    async (versionUuid, created) => {
      const { brokenReferences = [] } = created ?? (await push(place, versionUuid, moves))
      broken = brokenReferences
    },
    moves,
  )
  for (const { path } of moves) openBuffers.retryMissing({ ...place, versionUuid: done.versionUuid, path })
  return { ...done, broken }
}

/** Deletes a prompt. `undo` brings it back with the text that it had in this version. */
export async function deletePrompt(place: EditPlace, path: string): Promise<Edited & { undo: () => Promise<Edited> }> {
  let text = ''
  const done = await edited(place, async (versionUuid) => {
    const { content, contentHash } = await savedText(place, versionUuid, path)
    text = content
    await push(place, versionUuid, [{ path, status: 'deleted', baseHash: contentHash }])
  })
  // A poll between the push and the new tree has found the prompt deleted. There is nothing to ask about that.
  openBuffers.find({ ...place, path })?.dispatch({ on: 'let-go' })
  const { versionUuid } = done
  return { ...done, undo: () => createPrompt({ ...place, versionUuid, isLive: false }, path, text) }
}

/** Drops what a draft changes at a path: brings a deleted prompt back, or drops a text. */
export function revertChange(place: EditPlace, path: string): Promise<Edited> {
  return edited(place, (versionUuid) => openBuffers.revert({ ...place, versionUuid, path }))
}

/** The stored text of a prompt. Saves the text in its editor first. */
async function savedText(place: EditPlace, versionUuid: string, path: string) {
  await openBuffers.find({ ...place, path })?.save()
  return stet.prompts.get(path, { projectId: place.projectId, versionUuid })
}

/**
 * @param change makes the change. `created` is what the draft was created with, if that was this change.
 * @param changes what `change` does, if no text has to be read for it. A new draft is created with them.
 */
async function edited(
  place: EditPlace,
  change: (versionUuid: string, created: DraftForEdit['created']) => Promise<unknown>,
  changes: readonly Change[] = [],
): Promise<Edited> {
  const { projectId } = place
  const draft = place.isLive ? await draftForEdit(stet, projectId, changes) : null
  const versionUuid = draft?.uuid ?? place.versionUuid
  // A draft that another call has created does not have these changes.
  await change(versionUuid, draft?.created?.changes === changes ? draft.created : null)
  const query = treeQuery(projectId, versionUuid)
  // Otherwise the result would be that of a poll that has started before the change.
  await queryClient.cancelQueries({ queryKey: query.queryKey })
  const [tree] = await Promise.all([
    queryClient.fetchQuery({ ...query, staleTime: 0 }),
    queryClient.invalidateQueries({ queryKey: versionsQuery(projectId).queryKey }),
  ])
  openBuffers.follow({ projectId, versionUuid }, tree)
  return { versionUuid, draft, tree }
}

function push({ projectId }: EditPlace, versionUuid: string, changes: readonly Change[]): Promise<PushResult> {
  return stet.versions.push(versionUuid, changes, { projectId })
}
