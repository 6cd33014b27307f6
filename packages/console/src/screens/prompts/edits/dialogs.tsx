import { ApiError } from '@stet/sdk'
import { type FormEvent, useId, useState } from 'react'
import { messageOf } from '../../../app/failure.tsx'
import { noticeSignedOut } from '../../../app/session.ts'
import { RevertDialog } from '../../../editor/diff/revert-dialog.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'
import { typedPath } from './prompt-edits.ts'
import type { EditDialog, PromptEdits } from './use-prompt-edits.ts'

/** The questions before a change of a whole prompt. They are loaded when the first one is asked. */
export default function Dialogs({ edits, dialog }: { edits: PromptEdits; dialog: EditDialog }) {
  const close = () => edits.ask(null)
  if (dialog.kind === 'new')
    return (
      <PathDialog
        title="New prompt"
        action="Create"
        path={dialog.folder}
        onSubmit={(path) => edits.create(path)}
        onClose={close}
      />
    )
  const { path, change } = dialog.item
  if (dialog.kind === 'rename')
    return (
      <PathDialog
        title={`Rename ${path}`}
        action="Rename"
        path={dialog.to}
        unchanged={path}
        onSubmit={(to) => edits.rename(path, to)}
        onClose={close}
      />
    )
  return <RevertDialog path={path} status={change ?? 'modified'} onConfirm={() => edits.revert(path)} onClose={close} />
}

interface PathDialogProps {
  title: string
  action: string
  path: string
  /** The current path. Submitting it unchanged is blocked. */
  unchanged?: string
  onSubmit: (path: string) => Promise<void>
  onClose: () => void
}

function PathDialog({ title, action, path, unchanged, onSubmit, onClose }: PathDialogProps) {
  const form = useId()
  const [typed, setTyped] = useState(path)
  const [state, setState] = useState<'idle' | 'busy' | { problem: string }>('idle')
  const wanted = typedPath(typed)
  const isReady = wanted !== '' && wanted !== unchanged && !typed.endsWith('/')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!isReady || state === 'busy') return
    setState('busy')
    try {
      await onSubmit(wanted)
      onClose()
    } catch (error) {
      noticeSignedOut(error)
      setState({ problem: problemOf(error, wanted) })
    }
  }
  return (
    <Dialog
      title={title}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            look="primary"
            busy={state === 'busy'}
            blocked={!isReady && (unchanged ? 'type another path' : 'type a path')}
          >
            {action}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <TextField
          label="Path"
          mono
          value={typed}
          hint="Slashes make folders, for example support/reply"
          problem={typeof state === 'object' && state.problem}
          onChange={({ target }) => {
            setTyped(target.value)
            setState('idle')
          }}
        />
      </form>
    </Dialog>
  )
}

function problemOf(error: unknown, path: string): string {
  if (error instanceof ApiError && error.reason === 'base-changed') return `There is already a prompt at ${path}.`
  return messageOf(error)
}
