import type { Change } from '@stet/sdk'
import { treeQuery, versionsQuery } from '../../../app/queries.ts'
import { queryClient, stet } from '../../../app/session.ts'
import { openBuffers } from '../../../editor/buffer/open-buffers.ts'
import { type DraftForEdit, draftForEdit } from '../../../editor/draft-for-edit.ts'

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
}

/**
 * Creates a prompt.
 *
 * @throws ConflictError if the path has a prompt, BadRequestError if the path is not valid
 */
export async function createPrompt(place: EditPlace, path: string, content: string): Promise<Edited> {
  const changes: Change[] = [{ path, status: 'added', content, baseHash: '' }]
  const done = await edited(place, (versionUuid) => push(place, versionUuid, changes), changes)
  // Its address may be open, with the error that there is no such prompt.
  const created = { ...place, versionUuid: done.versionUuid, path }
  if (openBuffers.get(created).error) openBuffers.retry(created)
  return done
}

/**
 * Gives a prompt another path. The API has no rename: one push deletes the prompt and adds it at the new path.
 * The new prompt has another `documentUuid`, so it gets copies of the examples. `copied` resolves to what went wrong.
 *
 * @throws ConflictError if the new path has a prompt, or if the prompt has just changed
 */
export async function renamePrompt(
  place: EditPlace,
  from: string,
  to: string,
): Promise<Edited & { copied: Promise<{ error: unknown } | null> }> {
  let before = ''
  const done = await edited(place, async (versionUuid) => {
    const { content, contentHash, documentUuid } = await savedText(place, versionUuid, from)
    before = documentUuid
    await push(place, versionUuid, [
      { path: from, status: 'deleted', baseHash: contentHash },
      { path: to, status: 'added', content, baseHash: '' },
    ])
  })
  // The prompt has its new path now, so a failure from here on must not look like a failed rename.
  const copied = stet.prompts
    .get(to, { projectId: place.projectId, versionUuid: done.versionUuid })
    .then((renamed) => copyExamples(place, before, renamed.documentUuid))
  return {
    ...done,
    copied: copied.then(
      () => null,
      (error: unknown) => ({ error }),
    ),
  }
}

/** One after another, because examples are listed in the order in which they were created. */
async function copyExamples({ projectId }: EditPlace, from: string, to: string): Promise<void> {
  const [examples, present] = await Promise.all([
    stet.examples.list(from, { projectId }),
    stet.examples.list(to, { projectId }),
  ])
  // A path that was deleted in this draft before gets its prompt back, with its examples.
  const names = new Set(present.map(({ name }) => name))
  for (const { name, parameters, messages } of examples)
    if (!names.has(name)) await stet.examples.create({ documentUuid: to, name, parameters, messages }, { projectId })
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
  bufferOf(place, path)?.dispatch({ on: 'let-go' })
  const { versionUuid } = done
  return { ...done, undo: () => createPrompt({ ...place, versionUuid, isLive: false }, path, text) }
}

/** Drops what a draft changes at a path. */
export function revertPrompt(place: EditPlace, path: string): Promise<Edited> {
  return edited(place, (versionUuid) =>
    stet.versions.revert(versionUuid, { projectId: place.projectId, paths: [path] }),
  )
}

/** The stored text of a prompt. What is typed in its editor is saved first. */
async function savedText(place: EditPlace, versionUuid: string, path: string) {
  await bufferOf(place, path)?.save()
  return stet.prompts.get(path, { projectId: place.projectId, versionUuid })
}

function bufferOf({ projectId, versionUuid }: EditPlace, path: string) {
  return openBuffers.get({ projectId, versionUuid, path }).buffer
}

/** @param changes what `change` does, if no text has to be read for it. A new draft is created with them. */
async function edited(
  place: EditPlace,
  change: (versionUuid: string) => Promise<unknown>,
  changes: readonly Change[] = [],
): Promise<Edited> {
  const { projectId } = place
  const draft = place.isLive ? await draftForEdit(stet, projectId, changes) : null
  const versionUuid = draft?.uuid ?? place.versionUuid
  const isDone = changes.length > 0 && draft?.changes === changes
  if (!isDone) await change(versionUuid)
  await Promise.all([
    queryClient.fetchQuery({ ...treeQuery(projectId, versionUuid), staleTime: 0 }),
    queryClient.invalidateQueries({ queryKey: versionsQuery(projectId).queryKey }),
  ])
  return { versionUuid, draft }
}

function push({ projectId }: EditPlace, versionUuid: string, changes: readonly Change[]): Promise<unknown> {
  return stet.versions.push(versionUuid, changes, { projectId })
}
