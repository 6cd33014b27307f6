import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { stet } from '../../app/session.ts'
import type { PromptChange } from '../../editor/diff/changed-prompts.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { say } from '../../ui/toast.tsx'

interface RevertProps {
  projectId: number
  versionUuid: string
  /** Null closes the dialog. */
  change: PromptChange | null
  onClose: () => void
}

const outcomes = {
  added: 'The prompt is new in this draft. Reverting removes it.',
  moved: 'The prompt returns to its old path, with the live text. The draft’s text is discarded.',
  modified: 'The prompt returns to the live text. The draft’s text is discarded.',
  deleted: 'The prompt is restored with the live text.',
}

/** Asks before a prompt of a draft goes back to live. */
export function RevertDialog({ projectId, versionUuid, change, onClose }: RevertProps) {
  const queries = useQueryClient()
  // Keeps the words while the dialog fades out.
  const last = useRef(change)
  if (change) last.current = change
  const { path = '', status = 'modified' } = last.current ?? {}
  return (
    <Confirm
      key={path}
      title={
        <>
          Revert <code>{path}</code>?
        </>
      }
      text={outcomes[status]}
      action="Revert"
      danger
      open={change !== null}
      onClose={onClose}
      onConfirm={async () => {
        await stet.versions.revert(versionUuid, { projectId, paths: [path] })
        await queries.invalidateQueries({ queryKey: ['project', projectId] })
        say(`${path} is reverted`)
      }}
    />
  )
}
