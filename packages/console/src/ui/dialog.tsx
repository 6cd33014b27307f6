import { type ReactNode, useId, useState } from 'react'
import { Button, join } from './button.tsx'
import { Modal } from './modal.tsx'
import css from './styles/overlays.module.css'

interface DialogProps {
  title: ReactNode
  /** One or two sentences below the title. */
  text?: ReactNode
  /** False keeps its state while it is not shown. */
  open?: boolean
  onClose: () => void
  wide?: boolean
  /** Only its buttons close the dialog, because it holds what cannot be shown or written again. */
  isFirm?: boolean
  /** It asks something. A click beside it does not close it. */
  isQuestion?: boolean
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
export function Dialog({ open = true, ...props }: DialogProps) {
  return open && <OpenDialog {...props} />
}

function OpenDialog(props: Omit<DialogProps, 'open'>) {
  const { title, text, wide, isFirm, isQuestion, keepsFocus, actions, children, onClose } = props
  const id = useId()
  return (
    <Modal
      className={join(css['dialog'], wide && css['wide'], keepsFocus && css['docked'])}
      {...(isQuestion && { role: 'alertdialog' })}
      {...(keepsFocus && { 'data-docked': true })}
      closedby={isFirm ? 'none' : isQuestion ? 'closerequest' : 'any'}
      keepsFocus={keepsFocus}
      aria-labelledby={`${id}-title`}
      aria-describedby={text ? `${id}-text` : undefined}
      onClose={onClose}
    >
      <h2 id={`${id}-title`} className={css['dialogTitle']}>
        {title}
      </h2>
      {text && (
        <div id={`${id}-text`} className={css['dialogText']}>
          {text}
        </div>
      )}
      {children}
      {actions && <div className={css['dialogActions']}>{actions}</div>}
    </Modal>
  )
}

interface FormDialogProps extends Pick<DialogProps, 'title' | 'text' | 'wide' | 'open' | 'onClose' | 'children'> {
  /** The verb on the button that sends the form. */
  submit: string
  busy: boolean
  /** The missing part of the form, for example "needs a name". */
  missing?: string | false | undefined
  onSubmit: () => void
}

/** A form in a dialog. Enter in a field sends it, like its button. */
export function FormDialog({ submit, busy, missing, onSubmit, children, ...dialog }: FormDialogProps) {
  const id = useId()
  return (
    <Dialog
      {...dialog}
      actions={
        <>
          <Button onClick={dialog.onClose}>Cancel</Button>
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

/** The text is the consequence, and the object that it concerns. */
interface ConfirmProps extends Pick<DialogProps, 'title' | 'text' | 'open' | 'onClose' | 'children'> {
  /** The verb on the button, for example "Delete". */
  action: string
  danger?: boolean
  /** A rejection is shown in the dialog, which then stays open. */
  onConfirm: () => Promise<unknown>
}

/** Asks before something that is hard to undo. Only its buttons and Escape close it. */
export function Confirm({ action, danger, onClose, onConfirm, children, ...dialog }: ConfirmProps) {
  const [state, setState] = useState<'idle' | 'busy' | Error>('idle')
  const close = () => {
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
    <Dialog
      {...dialog}
      isQuestion
      onClose={cancel}
      actions={
        <>
          <Button onClick={cancel} blocked={state === 'busy' && 'wait for the result'}>
            Cancel
          </Button>
          <Button look={danger ? 'danger' : 'primary'} busy={state === 'busy'} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {state instanceof Error && <p role="alert">{state.message}</p>}
    </Dialog>
  )
}
