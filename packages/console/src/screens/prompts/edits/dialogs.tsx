import { ApiError, type TreeItem } from '@stet/sdk'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { toPrompt } from '../../../app/addresses.ts'
import { messageOf } from '../../../app/failure.tsx'
import { noticeSignedOut } from '../../../app/session.ts'
import { kindOf } from '../../../editor/diff/changed-prompts.ts'
import { RevertDialog } from '../../../editor/diff/revert-dialog.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog, FormDialog } from '../../../ui/dialog.tsx'
import { ChoiceField, TextField } from '../../../ui/field.tsx'
import { counted } from '../../../ui/time.tsx'
import { movesOf } from '../tree/tree.ts'
import { promptPath } from './prompt-path.ts'
import { skeletons } from './skeletons.ts'
import type { EditDialog, PromptEdits } from './use-prompt-edits.ts'

interface DialogsProps {
  projectId: number
  edits: PromptEdits
  dialog: EditDialog
  /** The prompts of the version. */
  items: readonly TreeItem[]
}

/** The questions before a change of a whole prompt. */
export function Dialogs({ projectId, edits, dialog, items }: DialogsProps) {
  const close = () => edits.ask(null)
  if (dialog.kind === 'broken') return <BrokenReferences {...dialog} projectId={projectId} onClose={close} />
  if (dialog.kind !== 'revert') return <PathDialog {...{ edits, dialog, items }} onClose={close} />
  const { path, change } = dialog.item
  const status = (change && kindOf(change, dialog.item)) ?? 'modified'
  return <RevertDialog path={path} status={status} onConfirm={() => edits.revert(path)} onClose={close} />
}

interface PathDialogProps extends Pick<DialogsProps, 'edits' | 'items'> {
  dialog: Extract<EditDialog, { kind: 'new' | 'rename' }>
  onClose: () => void
}

interface BrokenReferencesProps extends Omit<Extract<EditDialog, { kind: 'broken' }>, 'kind'> {
  projectId: number
  onClose: () => void
}

/** Asks for the path of a new prompt and the text that it starts with, or for another path of a prompt or a folder. */
function PathDialog({ edits, dialog, items, onClose }: PathDialogProps) {
  const row = dialog.kind === 'rename' ? dialog.row : undefined
  const before = row?.key.replace(/\/$/, '')
  const [typed, setTyped] = useState(dialog.path)
  const [skeleton, setSkeleton] = useState<(typeof skeletons)[number]>(skeletons[0])
  const path = promptPath(typed, new Set(items.flatMap((item) => item.path.split('/'))))
  const send = useMutation({
    mutationFn: () =>
      row
        ? edits.move(movesOf(items, row, path), row.key, row.kind === 'folder' ? `${path}/` : path)
        : edits.create(path, skeleton.text),
    onError: noticeSignedOut,
  })
  const isReady = path !== '' && path !== before && !typed.endsWith('/')
  return (
    <FormDialog
      title={row ? `Rename ${row.key}` : 'New prompt'}
      submit={row ? 'Rename' : 'Create'}
      busy={send.isPending}
      missing={!isReady && (row ? 'type another path' : 'type a path')}
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
      {!row && (
        <ChoiceField
          label="Start from"
          hint={skeleton.hint}
          value={skeleton.name}
          choices={skeletons.map(({ name }) => [name, name] as const)}
          onChange={(chosen) => setSkeleton(skeletons.find(({ name }) => name === chosen) ?? skeletons[0])}
        />
      )}
    </FormDialog>
  )
}

/** Named after a move, because publishing refuses them. */
function BrokenReferences({ projectId, said, from, versionUuid, paths, onClose }: BrokenReferencesProps) {
  return (
    <Dialog
      title="Renamed"
      text={`${said}. ${counted(paths.length, 'prompt')} still ${paths.length === 1 ? 'refers' : 'refer'} to ${from}. Change the references before you publish.`}
      actions={<Button onClick={onClose}>Close</Button>}
      onClose={onClose}
    >
      <ul>
        {paths.map((path) => (
          <li key={path}>
            <Link {...toPrompt(projectId, versionUuid, path)} onClick={onClose}>
              {path}
            </Link>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function problemOf(error: unknown, path: string): string {
  if (error instanceof ApiError && error.reason === 'base-changed') return `There is already a prompt at ${path}.`
  return messageOf(error)
}
