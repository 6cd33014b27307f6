import type { TreeItem } from '@stet/sdk'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { treeQuery } from '../../../app/queries.ts'
import { noticeSignedOut, queryClient, useBlocked } from '../../../app/session.ts'
import { openBuffers } from '../../../editor/buffer/open-buffers.ts'
import { say } from '../../../ui/toast.tsx'
import type { Move, Row } from '../tree/tree.ts'
import { createPrompt, deletePrompt, type Edited, type EditPlace, movePrompts, revertChange } from './prompt-edits.ts'

/** A change that the user is asked about first. */
export type EditDialog =
  | { kind: 'new'; path: string }
  | { kind: 'rename'; row: Pick<Row, 'kind' | 'key'>; path: string }
  /** After a move: the prompts of the version that still refer to an old path. */
  | { kind: 'broken'; from: string; versionUuid: string; paths: readonly string[] }
  | { kind: 'revert'; item: TreeItem }

interface EditFailure {
  /** For example "The prompt was not deleted". */
  what: string
  error: unknown
}

export interface PromptEdits {
  /** Why nothing can be changed here, for example `your key lacks “write”`. */
  blocked: string | false
  dialog: EditDialog | null
  ask: (dialog: EditDialog | null) => void
  create: (path: string, text: string) => Promise<void>
  /** @param from what the user sees moving: a prompt or a folder */
  move: (moves: readonly Move[], from: string) => Promise<void>
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
  const router = useRouter()
  const latest = useRef(shown)
  useEffect(() => {
    latest.current = shown
  })
  const blocked = useBlocked('write')
  const [dialog, setDialog] = useState<EditDialog | null>(null)
  const [failure, setFailure] = useState<EditFailure | null>(null)

  /**
   * Call it before a change. The returned function shows a prompt of the version that was changed, or the list, unless
   * the user has gone elsewhere meanwhile. A moved prompt keeps what the address says about it.
   */
  const startShow = () => {
    const { pathname } = router.latestLocation
    return async ({ versionUuid }: Edited, path: string | undefined, isSame = false) => {
      const { version, path: open } = latest.current
      const hasLeft = router.latestLocation.pathname !== pathname
      if (hasLeft || (versionUuid === version && path === open)) return
      const params = { project: String(place.projectId), version: versionUuid }
      if (path === undefined) await navigate({ to: '/p/$project/v/$version/prompts', params })
      else
        await navigate({
          to: '/p/$project/v/$version/prompts/$',
          params: { ...params, _splat: path },
          search: ({ tab, ...rest }) => ({ ...(tab && { tab }), ...(isSame && rest) }),
        })
    }
  }
  /** The open prompt, unless the change has removed its path from the version. */
  const remaining = ({ versionUuid }: Edited, open = shown.path) => {
    const tree = queryClient.getQueryData(treeQuery(place.projectId, versionUuid).queryKey)
    return tree?.some(({ path }) => path === open) ? open : undefined
  }
  const where = ({ draft }: Edited) =>
    draft ? ` in ${draft.isNew ? 'the new draft' : 'your draft'} ${draft.title}` : ''

  const remove = async (path: string) => {
    const show = startShow()
    try {
      const done = await deletePrompt(place, path)
      await show(done, remaining(done))
      const undo = () => {
        const showAgain = startShow()
        void done.undo().then((undone) => showAgain(undone, path), fail('The prompt was not restored'))
      }
      say(`Deleted ${path}${where(done)}`, { label: 'Undo', onSelect: undo })
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
    ask: setDialog,
    async create(path, text) {
      const show = startShow()
      const done = await createPrompt(place, path, text)
      await show(done, path)
      if (done.draft) say(`Created ${path}${where(done)}`)
      setDialog(null)
    },
    async move(moves, from) {
      setFailure(null)
      const show = startShow()
      const { broken, ...done } = await movePrompts(place, moves)
      const moved = moves.find((move) => move.from === shown.path)
      await show(done, moved?.path ?? shown.path, moved !== undefined)
      if (done.draft) say(`Renamed ${from}${where(done)}`)
      setDialog(broken.length > 0 ? { kind: 'broken', from, versionUuid: done.versionUuid, paths: broken } : null)
    },
    remove: (path) => {
      setFailure(null)
      void remove(path)
    },
    async revert(path) {
      const open = shown.path === undefined ? null : openBuffers.find({ ...place, path: shown.path })
      const show = startShow()
      const done = await revertChange(place, path)
      // A moved prompt is back at its old path.
      await show(done, remaining(done, open?.place.path))
    },
    failure,
  }
}
