import { Confirm } from '../../ui/dialog.tsx'
import type { ChangeKind } from './changed-prompts.ts'

interface RevertProps {
  path: string
  status: ChangeKind
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

const outcomes = {
  added: 'The prompt exists only in this draft. Reverting deletes it and its text.',
  moved: 'The prompt returns to its old path, with the live text. The draft’s text is discarded.',
  modified: 'The prompt returns to the live text. The draft’s text is discarded.',
  deleted: 'The prompt is restored with the live text.',
}

/** Asks before a prompt of a draft goes back to live. */
export function RevertDialog({ path, status, onConfirm, onClose }: RevertProps) {
  return (
    <Confirm
      title={
        <>
          Revert <code>{path}</code>?
        </>
      }
      text={outcomes[status]}
      action="Revert"
      danger
      onClose={onClose}
      onConfirm={onConfirm}
    />
  )
}
