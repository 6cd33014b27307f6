import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'

interface ShownOnceProps {
  title: string
  text: ReactNode
  secret: string
  /** The name of the secret for screen readers, for example "the key". */
  label: string
  onClose: () => void
  children?: ReactNode
}

/** A secret that cannot be shown again, so only the button closes the dialog. */
export function ShownOnce({ title, text, secret, label, onClose, children }: ShownOnceProps) {
  return (
    <Dialog
      title={title}
      text={text}
      isFirm
      onClose={onClose}
      actions={
        <Button look="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <Code text={secret} label={label} />
      {children}
    </Dialog>
  )
}
