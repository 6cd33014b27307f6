import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'
import { Failure } from '../../failure.tsx'

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
export function NameDialog({ title, text, action, initial = '', onClose, onName, children }: NameDialogProps) {
  const [name, setName] = useState(initial)
  const [state, setState] = useState<'idle' | 'busy' | 'unnamed' | { error: unknown }>('idle')
  const submit = async () => {
    if (!name.trim()) return setState('unnamed')
    setState('busy')
    try {
      await onName(name.trim())
      onClose()
    } catch (error) {
      setState({ error })
    }
  }
  return (
    <FormDialog title={title} text={text} submit={action} busy={state === 'busy'} onSubmit={submit} onClose={onClose}>
      <TextField
        label="Name"
        value={name}
        maxLength={256}
        problem={state === 'unnamed' && 'Enter a name'}
        onChange={(event) => setName(event.target.value)}
      />
      {children}
      {typeof state === 'object' && <Failure error={state.error} what="Nothing was saved" />}
    </FormDialog>
  )
}
