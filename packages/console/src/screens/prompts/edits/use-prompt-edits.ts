import type { TreeItem } from '@stet/sdk'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { toPrompt, toPrompts } from '../../../app/addresses.ts'
import { noticeSignedOut, useBlocked } from '../../../app/session.ts'
import { openBuffers } from '../../../editor/buffer/open-buffers.ts'
import { say } from '../../../ui/toast.tsx'
import type { Move, Row } from '../tree/tree.ts'
import { createPrompt, deletePrompt, type Edited, type EditPlace, movePrompts, revertChange } from './prompt-edits.ts'

/** A change that the user is asked about first. */
export type EditDialog =
  | { kind: 'new'; path: string }
  | { kind: 'rename'; row: Pick<Row, 'kind' | 'key'>; path: string }
  /** After a move: the prompts of the version that still refer to an old path. */
  | { kind: 'broken'; said: string; from: string; versionUuid: string; paths: readonly string[] }
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
  /** @param from what the user sees moving: a prompt, or a folder with a slash at its end, like `to` */
  move: (moves: readonly Move[], from: string, to: string) => Promise<void>
  /** Deletes without a question, because it can be undone. */
  remove: (path: string) => void
  /** Drops what the draft changes at the path: brings a deleted prompt back, or drops a text. */
  revert: (path: string) => Promise<void>
  /** The last change that failed without a dialog. */
  failure: EditFailure | null
}

/** The address of the screen. */
interface Shown {
  version: string
  path: string | undefined
}

/** The changes of whole prompts. After each one, the screen shows the version that holds it. */
export function usePromptEdits(place: EditPlace & { isDraft: boolean }, shown: Shown): PromptEdits {
  const startShow = useShow(place.projectId, shown)
  const blocked = useBlocked('write')
  const [dialog, setDialog] = useState<EditDialog | null>(null)
  const [failure, setFailure] = useState<EditFailure | null>(null)
  const fail = (what: string) => (error: unknown) => {
    noticeSignedOut(error)
    setFailure({ what, error })
  }
  const remove = async (path: string) => {
    const show = startShow()
    const { undo, ...done } = await deletePrompt(place, path)
    await show(done, shown.path)
    const restore = async () => {
      const showAgain = startShow()
      await showAgain(await undo(), path)
    }
    const onSelect = () => void restore().catch(fail('The prompt was not restored'))
    say(`Deleted ${path}${where(done)}`, { label: 'Undo', onSelect })
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
    async move(moves, from, to) {
      setFailure(null)
      const show = startShow()
      const { broken, ...done } = await movePrompts(place, moves)
      const moved = moves.find((move) => move.from === shown.path)
      await show(done, moved?.path ?? shown.path, moved !== undefined)
      const said = `Renamed ${from} to ${to}${where(done)}`
      if (broken.length === 0) say(said)
      setDialog(broken.length > 0 ? { kind: 'broken', said, from, versionUuid: done.versionUuid, paths: broken } : null)
    },
    remove: (path) => {
      setFailure(null)
      void remove(path).catch(fail('The prompt was not deleted'))
    },
    async revert(path) {
      const open = shown.path === undefined ? null : openBuffers.find({ ...place, path: shown.path })
      const show = startShow()
      // A moved prompt is back at its old path.
      await show(await revertChange(place, path), open?.place.path ?? shown.path)
    },
    failure,
  }
}

/**
 * Call the function before a change. The one that it returns shows a prompt of the version that was changed, or the
 * list if the version does not have it, unless the user has gone elsewhere meanwhile. A moved prompt keeps what the
 * address says about it.
 */
function useShow(projectId: number, shown: Shown) {
  const navigate = useNavigate({ from: '/p/$project/v/$version/prompts/$' })
  const router = useRouter()
  const latest = useRef(shown)
  useEffect(() => {
    latest.current = shown
  })
  return () => {
    const { pathname } = router.latestLocation
    return async ({ versionUuid, tree }: Edited, wanted: string | undefined, isMoved = false) => {
      const path = tree.find((item) => item.path === wanted)?.path
      const { version, path: open } = latest.current
      const hasLeft = router.latestLocation.pathname !== pathname
      if (hasLeft || (versionUuid === version && path === open)) return
      if (path === undefined) return navigate(toPrompts(projectId, versionUuid))
      await navigate({
        ...toPrompt(projectId, versionUuid, path),
        search: ({ tab, ...rest }) => ({ ...(tab && { tab }), ...(isMoved && rest) }),
      })
    }
  }
}

function where({ draft }: Edited): string {
  return draft ? ` in ${draft.isNew ? 'the new draft' : 'your draft'} ${draft.title}` : ''
}
