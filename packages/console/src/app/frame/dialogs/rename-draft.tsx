import { useState } from 'react'
import { TextAreaField } from '../../../ui/field.tsx'
import { queryClient, stet } from '../../session.ts'
import { useOpenDraft } from '../place.ts'
import { NameDialog } from './name-dialog.tsx'

export default function RenameDraft({ onClose }: { onClose: () => void }) {
  // The dialog is about the draft that it was opened for, also if another address follows.
  const [draft] = useState(useOpenDraft())
  const [typed, setTyped] = useState<string>()
  if (!draft) return null
  const { uuid, projectId, title } = draft
  return (
    <NameDialog
      title="Name and notes of the draft"
      text="The version that it becomes gets the same name and notes, unless you change them when you publish."
      action="Save"
      initial={title}
      onClose={onClose}
      onName={async (name) => {
        // A colleague may have changed the other field meanwhile.
        const edited = {
          ...(name !== title.trim() && { name }),
          ...(typed !== undefined && { description: typed.trim() }),
        }
        await stet.versions.update(uuid, edited, { projectId })
        await queryClient.invalidateQueries({ queryKey: ['project', projectId] })
      }}
    >
      <TextAreaField
        label="Release notes"
        note="optional"
        value={typed ?? draft.description ?? ''}
        onChange={(event) => setTyped(event.target.value)}
      />
    </NameDialog>
  )
}
