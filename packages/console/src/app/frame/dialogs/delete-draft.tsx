import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Confirm } from '../../../ui/dialog.tsx'
import { counted } from '../../../ui/time.tsx'
import { say } from '../../../ui/toast.tsx'
import { noticeSignedOut, queryClient, stet } from '../../session.ts'
import { saveAll } from '../../unsaved.ts'
import { restoreDraft } from '../lines/deleted-draft.tsx'
import { useOpenDraft } from '../place.ts'

export default function DeleteDraft({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  // The question is about the draft that it was opened for, also if another address follows.
  const [draft] = useState(useOpenDraft())
  if (!draft) return null
  const { uuid, projectId, title, changeCount } = draft
  const show = (version: string) =>
    navigate({ to: '/p/$project/v/$version/prompts', params: { project: String(projectId), version } })
  const remove = async () => {
    // A restored draft has what was typed last.
    await saveAll()
    await stet.versions.delete(uuid, { projectId })
    await show('live')
    await queryClient.invalidateQueries({ queryKey: ['project', projectId] })
    say(`Deleted the draft “${title}”`, { label: 'Undo', onSelect: () => void undo() })
  }
  // If it fails, the address of the draft says that it is deleted, and offers to restore it.
  const undo = async () => {
    await restoreDraft({ projectId, uuid }).catch(noticeSignedOut)
    await show(uuid)
  }
  return (
    <Confirm
      title={`Delete the draft “${title}”?`}
      text={`This draft has ${counted(changeCount, 'change')}. For 30 days, it can be restored at its address.`}
      action="Delete draft"
      danger
      open
      onClose={onClose}
      onConfirm={remove}
    />
  )
}
