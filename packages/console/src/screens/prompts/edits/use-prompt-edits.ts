import type { TreeItem } from '@stet/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { treeQuery } from '../../../app/queries.ts'
import { noticeSignedOut, queryClient, useBlocked } from '../../../app/session.ts'
import { holdKeys } from '../../../ui/held-keys.ts'
import { say } from '../../../ui/toast.tsx'
import { createPrompt, deletePrompt, type Edited, type EditPlace, renamePrompt, revertPrompt } from './prompt-edits.ts'

/** A change that the user is asked about first. */
export type EditDialog =
  | { kind: 'new'; path: string }
  | { kind: 'rename'; item: TreeItem; path: string }
  | { kind: 'revert'; item: TreeItem }

interface EditFailure {
  /** For example "The prompt was not deleted". */
  what: string
  error: unknown
}

export interface PromptEdits {
  /** Why nothing can be changed here, for example "needs write". */
  blocked: string | false
  dialog: EditDialog | null
  ask: (dialog: EditDialog | null) => void
  create: (path: string, text: string) => Promise<void>
  rename: (from: string, to: string) => Promise<void>
  /** Deletes without a question, because it can be undone. */
  remove: (path: string) => void
  /** Drops what the draft changes at the path: brings a deleted prompt back, or drops a text. */
  revert: (path: string) => Promise<void>
  /** The last change that failed without a dialog. */
  failure: EditFailure | null
}

/** The changes of whole prompts. After each one, the screen shows the version that holds it. */
export function usePromptEdits(
  place: EditPlace & { isDraft: boolean },
  shown: { version: string; path: string | undefined },
): PromptEdits {
  const navigate = useNavigate()
  const blocked = useBlocked('write')
  const [dialog, setDialog] = useState<EditDialog | null>(null)
  const [failure, setFailure] = useState<EditFailure | null>(null)

  /** Shows a prompt of the version that was changed, or the list. */
  const show = async ({ versionUuid }: Edited, path: string | undefined) => {
    if (versionUuid === shown.version && path === shown.path) return
    const params = { project: String(place.projectId), version: versionUuid }
    if (path === undefined) await navigate({ to: '/p/$project/v/$version/prompts', params })
    else
      await navigate({
        to: '/p/$project/v/$version/prompts/$',
        params: { ...params, _splat: path },
        search: ({ tab }) => (tab ? { tab } : {}),
      })
  }
  /** The open prompt, unless the change has removed its path from the version. */
  const remaining = ({ versionUuid }: Edited) => {
    const tree = queryClient.getQueryData(treeQuery(place.projectId, versionUuid).queryKey)
    return tree?.some(({ path }) => path === shown.path) ? shown.path : undefined
  }
  const where = ({ draft }: Edited) =>
    draft ? ` in ${draft.isNew ? 'the new draft' : 'your draft'} ${draft.title}` : ''

  const remove = async (path: string) => {
    try {
      const done = await deletePrompt(place, path)
      await show(done, remaining(done))
      say(`Deleted ${path}${where(done)}`, {
        label: 'Undo',
        onSelect: () => void done.undo().then((undone) => show(undone, path), fail('The prompt was not restored')),
      })
    } catch (error) {
      fail('The prompt was not deleted')(error)
    }
  }
  const fail = (what: string) => (error: unknown) => {
    noticeSignedOut(error)
    setFailure({ what, error })
  }

  return {
    blocked: blocked || (!place.isLive && !place.isDraft && 'published, but not live'),
    dialog,
    ask(next) {
      if (next) holdKeys()
      setDialog(next)
    },
    async create(path, text) {
      const done = await createPrompt(place, path, text)
      await show(done, path)
      if (done.draft) say(`Created ${path}${where(done)}`)
    },
    async rename(from, to) {
      setFailure(null)
      const done = await renamePrompt(place, from, to)
      const failed = await done.copied
      if (failed) fail('The prompt was renamed, but not all of its examples were copied')(failed.error)
      await show(done, shown.path === from ? to : shown.path)
      if (done.draft) say(`Renamed ${from}${where(done)}`)
    },
    remove: (path) => {
      setFailure(null)
      void remove(path)
    },
    async revert(path) {
      const done = await revertPrompt(place, path)
      await show(done, remaining(done))
    },
    failure,
  }
}
