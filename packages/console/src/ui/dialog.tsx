import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as Base } from '@base-ui/react/dialog'
import { type ReactNode, type RefObject, useId, useRef, useState } from 'react'
import { Button, join } from './button.tsx'
import { TextField } from './field.tsx'
import css from './styles/overlays.module.css'

interface DialogProps {
  title: ReactNode
  /** One or two sentences below the title. */
  text?: ReactNode
  open: boolean
  onClose: () => void
  wide?: boolean
  /** Only its buttons close the dialog, because it holds what cannot be shown or written again. */
  isFirm?: boolean
  /**
   * The focus stays where the user is typing, so that no key goes into the dialog, and the dialog is docked below the
   * screen, so that it covers no text. Escape then calls `onClose`.
   */
  keepsFocus?: boolean
  /** The buttons at the end, the primary one last. */
  actions?: ReactNode
  children?: ReactNode
}

/** A modal dialog. When it closes, the focus returns to where it was. */
export function Dialog({ title, text, open, onClose, wide, isFirm, keepsFocus, actions, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root open={open} modal={!keepsFocus} onOpenChange={(next) => !next && !isFirm && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={join(css['veil'], keepsFocus && css['clear'])} />
        <Base.Popup
          ref={popup}
          className={join(css['dialog'], wide && css['wide'], keepsFocus && css['docked'])}
          initialFocus={!keepsFocus && (() => focusFirst(popup))}
          {...(keepsFocus && { 'data-docked': true })}
        >
          <Base.Title className={css['dialogTitle']}>{title}</Base.Title>
          {text && <Base.Description className={css['dialogText']}>{text}</Base.Description>}
          {children}
          {actions && <div className={css['dialogActions']}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/**
 * Base UI moves the focus a frame after the dialog has appeared. On a busy page, keys that are typed until then would
 * go to what had the focus before. Returns whether Base UI has to find a place.
 */
export function focusFirst(popup: RefObject<HTMLElement | null>): boolean {
  const first = popup.current?.querySelector<HTMLElement>(
    ':is(input, select, textarea, button, a[href], [tabindex="0"]):not(:disabled, [tabindex="-1"])',
  )
  first?.focus()
  return !first
}

interface FormDialogProps extends Pick<DialogProps, 'title' | 'text' | 'wide' | 'onClose' | 'children'> {
  open?: boolean
  /** The verb on the button that sends the form. */
  submit: string
  busy: boolean
  /** The missing part of the form, for example "needs a name". */
  missing?: string | false | undefined
  onSubmit: () => void
}

/** A form in a dialog. Enter in a field sends it, like its button. */
export function FormDialog({
  open = true,
  submit,
  busy,
  missing,
  onSubmit,
  onClose,
  children,
  ...dialog
}: FormDialogProps) {
  const id = useId()
  return (
    <Dialog
      {...dialog}
      open={open}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={id} busy={busy} blocked={missing}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className={css['form']}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!missing && !busy) onSubmit()
        }}
      >
        {children}
      </form>
    </Dialog>
  )
}

interface ConfirmProps {
  title: ReactNode
  /** The consequence, and the object that it concerns. */
  text: ReactNode
  /** The verb on the button, for example "Delete". */
  action: string
  danger?: boolean
  open: boolean
  onClose: () => void
  /** A rejection is shown in the dialog, which then stays open. */
  onConfirm: () => Promise<unknown>
  /** A word that the user must type first, for what cannot be undone. */
  word?: string
  children?: ReactNode
}

/** Asks before something that is hard to undo. Only its buttons and Escape close it. */
export function Confirm({ title, text, action, danger, open, onClose, onConfirm, word, children }: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const [state, setState] = useState<'idle' | 'busy' | Error>('idle')
  const popup = useRef<HTMLDivElement>(null)
  const close = () => {
    setTyped('')
    setState('idle')
    onClose()
  }
  // The result belongs to this question, so the dialog stays until it is there.
  const cancel = () => state !== 'busy' && close()
  const confirm = async () => {
    setState('busy')
    try {
      await onConfirm()
      close()
    } catch (error) {
      setState(error instanceof Error ? error : new Error(String(error)))
    }
  }
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => !next && cancel()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={css['veil']} />
        <AlertDialog.Popup ref={popup} className={css['dialog']} initialFocus={() => focusFirst(popup)}>
          <AlertDialog.Title className={css['dialogTitle']}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={css['dialogText']} render={<div />}>
            {text}
          </AlertDialog.Description>
          {children}
          {word && <TypedWord word={word} value={typed} onChange={setTyped} />}
          {state instanceof Error && <p role="alert">{state.message}</p>}
          <div className={css['dialogActions']}>
            <Button onClick={cancel} blocked={state === 'busy' && 'wait for the result'}>
              Cancel
            </Button>
            <Button
              look={danger ? 'danger' : 'primary'}
              busy={state === 'busy'}
              blocked={word && typed !== word && `type ${word} first`}
              onClick={confirm}
            >
              {action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

function TypedWord({ word, value, onChange }: { word: string; value: string; onChange: (value: string) => void }) {
  return (
    <TextField
      label={
        <>
          Type <code>{word}</code> to continue
        </>
      }
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
