import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Confirm, FormDialog } from '../../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../../ui/field.tsx'
import { counted } from '../../../ui/time.tsx'
import { say } from '../../../ui/toast.tsx'
import { toPrompts } from '../../addresses.ts'
import { Failure } from '../../failure.tsx'
import { projectsQuery, versionsQuery } from '../../queries.ts'
import { noticeSignedOut, queryClient, signOut, stet, useSession } from '../../session.ts'
import { countUnsaved, saveAll } from '../../unsaved.ts'
import { restoreDraft } from '../lines/deleted-draft.tsx'
import { useOpenDraft, useProjectId } from '../place.ts'
import { draftName } from '../switches/draft-for-edit.ts'

export function NewProject({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <NameDialog
      title="New project"
      text="A project has its own prompts, drafts and live version. Programs name it by its id."
      action="Create project"
      onClose={onClose}
      onName={async (name) => {
        const { project, version } = await stet.projects.create(name)
        await queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey })
        await navigate(toPrompts(project.id, version.uuid))
      }}
    />
  )
}

export function NewDraft({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const { author } = useSession().apiKey
  const projectId = useProjectId()
  if (projectId === null) return null
  return (
    <NameDialog
      title="New draft"
      text="A draft starts with the live prompts. Nothing that you change in it is live until you publish it."
      action="Create draft"
      initial={draftName(author, new Date())}
      onClose={onClose}
      onName={async (name) => {
        const { uuid } = await stet.versions.create(name, { projectId })
        await queryClient.invalidateQueries({ queryKey: versionsQuery(projectId).queryKey })
        await navigate(toPrompts(projectId, uuid))
      }}
    />
  )
}

export function RenameDraft({ onClose }: { onClose: () => void }) {
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

export function DeleteDraft({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  // The question is about the draft that it was opened for, also if another address follows.
  const [draft] = useState(useOpenDraft())
  if (!draft) return null
  const { uuid, projectId, title, changeCount } = draft
  const show = (version: string) => navigate(toPrompts(projectId, version))
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
      onClose={onClose}
      onConfirm={remove}
    />
  )
}

/** Asks before texts are discarded that could not be saved. */
export function SignOut({ onClose }: { onClose: () => void }) {
  const [count] = useState(countUnsaved)
  return (
    <Confirm
      title="Sign out?"
      text={`${counted(count, 'prompt')} ${count === 1 ? 'is' : 'are'} not saved. Signing out discards ${count === 1 ? 'it' : 'them'}.`}
      action="Sign out"
      danger
      onConfirm={signOut}
      onClose={onClose}
    />
  )
}

interface NameDialogProps {
  title: string
  text: string
  /** The verb and its object on the button. */
  action: string
  initial?: string
  onClose: () => void
  /** A rejection is shown below the fields, and the dialog stays open. */
  onName: (name: string) => Promise<unknown>
  /** Further fields. */
  children?: ReactNode
}

/** Asks for a name. */
function NameDialog({ title, text, action, initial = '', onClose, onName, children }: NameDialogProps) {
  const [name, setName] = useState(initial)
  const [isUnnamed, setUnnamed] = useState(false)
  const send = useMutation({ mutationFn: onName, onSuccess: onClose })
  const submit = () => {
    setUnnamed(!name.trim())
    if (name.trim()) send.mutate(name.trim())
  }
  return (
    <FormDialog title={title} text={text} submit={action} busy={send.isPending} onSubmit={submit} onClose={onClose}>
      <TextField
        label="Name"
        value={name}
        maxLength={256}
        problem={isUnnamed && 'Enter a name'}
        onChange={(event) => setName(event.target.value)}
      />
      {children}
      {send.error && <Failure error={send.error} what="Nothing was saved" />}
    </FormDialog>
  )
}
