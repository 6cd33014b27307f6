import { useState } from 'react'
import { TextAreaField } from '../../../ui/field.tsx'
import { queryClient, stet } from '../../session.ts'
import { useOpenDraft } from '../place.ts'
import { NameDialog } from './name-dialog.tsx'

export default function RenameDraft({ onClose }: { onClose: () => void }) {
  // The dialog is about the draft that it was opened for, also if another address follows.
  const [draft] = useState(useOpenDraft())
  const [description, setDescription] = useState(draft?.description ?? '')
  if (!draft) return null
  const { uuid, projectId, title } = draft
  return (
    <NameDialog
      title="Rename draft"
      text="The version that it becomes gets the same name and notes, unless you change them when you publish."
      action="Rename"
      initial={title}
      onClose={onClose}
      onName={async (name) => {
        await stet.versions.update(uuid, { name, description: description.trim() }, { projectId })
        await queryClient.invalidateQueries({ queryKey: ['project', projectId] })
      }}
    >
      <TextAreaField
        label="Release notes"
        note="optional"
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
    </NameDialog>
  )
}
