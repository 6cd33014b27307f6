import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'
import { messageOf } from '../../failure.tsx'

interface NameDialogProps {
  title: string
  text: string
  /** The verb and its object on the button. */
  action: string
  initial?: string
  onClose: () => void
  /** A rejection is shown at the field, and the dialog stays open. */
  onName: (name: string) => Promise<unknown>
  /** Further fields. */
  children?: ReactNode
}

/** Asks for a name. */
export function NameDialog({ title, text, action, initial = '', onClose, onName, children }: NameDialogProps) {
  const [name, setName] = useState(initial)
  const [state, setState] = useState<'idle' | 'busy' | { problem: string }>('idle')
  const submit = async () => {
    if (!name.trim()) return setState({ problem: 'Enter a name' })
    setState('busy')
    try {
      await onName(name.trim())
      onClose()
    } catch (error) {
      setState({ problem: messageOf(error) })
    }
  }
  return (
    <FormDialog title={title} text={text} submit={action} busy={state === 'busy'} onSubmit={submit} onClose={onClose}>
      <TextField
        label="Name"
        value={name}
        maxLength={256}
        problem={typeof state === 'object' && state.problem}
        onChange={(event) => setName(event.target.value)}
      />
      {children}
    </FormDialog>
  )
}
