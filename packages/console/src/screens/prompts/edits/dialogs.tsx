import { ApiError, type TreeItem } from '@stet/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../../app/failure.tsx'
import { noticeSignedOut } from '../../../app/session.ts'
import { RevertDialog } from '../../../editor/diff/revert-dialog.tsx'
import { FormDialog } from '../../../ui/dialog.tsx'
import { SelectField, TextField } from '../../../ui/field.tsx'
import { promptPath } from './prompt-path.ts'
import { skeletons } from './skeletons.ts'
import type { EditDialog, PromptEdits } from './use-prompt-edits.ts'

interface DialogsProps {
  edits: PromptEdits
  dialog: EditDialog
  /** The prompts of the version. */
  items: readonly TreeItem[]
}

/** The questions before a change of a whole prompt. They are loaded when the first one is asked. */
export default function Dialogs({ edits, dialog, items }: DialogsProps) {
  const close = () => edits.ask(null)
  if (dialog.kind !== 'revert') return <PathDialog {...{ edits, dialog, items }} onClose={close} />
  const { path, change } = dialog.item
  return <RevertDialog path={path} status={change ?? 'modified'} onConfirm={() => edits.revert(path)} onClose={close} />
}

interface PathDialogProps extends DialogsProps {
  dialog: Exclude<EditDialog, { kind: 'revert' }>
  onClose: () => void
}

/** Asks for the path of a new prompt and the text that it starts with, or for another path of a prompt. */
function PathDialog({ edits, dialog, items, onClose }: PathDialogProps) {
  const before = dialog.kind === 'rename' ? dialog.item.path : undefined
  const [typed, setTyped] = useState(dialog.path)
  const [skeleton, setSkeleton] = useState<(typeof skeletons)[number]>(skeletons[0])
  const path = promptPath(typed, new Set(items.flatMap((item) => item.path.split('/'))))
  const send = useMutation({
    mutationFn: () => (before === undefined ? edits.create(path, skeleton.text) : edits.rename(before, path)),
    onSuccess: onClose,
    onError: noticeSignedOut,
  })
  const isReady = path !== '' && path !== before && !typed.endsWith('/')
  return (
    <FormDialog
      title={before === undefined ? 'New prompt' : `Rename ${before}`}
      submit={before === undefined ? 'Create' : 'Rename'}
      busy={send.isPending}
      missing={!isReady && (before === undefined ? 'type a path' : 'type another path')}
      onSubmit={() => send.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Path"
        mono
        value={typed}
        hint={
          path === typed || !isReady ? (
            'Slashes make folders, for example support/reply'
          ) : (
            <>
              Becomes <code>{path}</code>
            </>
          )
        }
        problem={send.isError && problemOf(send.error, path)}
        onChange={({ target }) => {
          setTyped(target.value)
          send.reset()
        }}
      />
      {before === undefined && (
        <SelectField
          label="Start from"
          hint={skeleton.hint}
          value={skeleton.name}
          onChange={({ target }) => setSkeleton(skeletons.find(({ name }) => name === target.value) ?? skeletons[0])}
        >
          {skeletons.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      )}
    </FormDialog>
  )
}

function problemOf(error: unknown, path: string): string {
  if (error instanceof ApiError && error.reason === 'base-changed') return `There is already a prompt at ${path}.`
  return messageOf(error)
}
