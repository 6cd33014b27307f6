import {
  type ComponentProps,
  type KeyboardEvent,
  type SyntheticEvent,
  useEffectEvent,
  useLayoutEffect,
  useRef,
} from 'react'
import { createPortal } from 'react-dom'
import { listen, Watched } from './watched.ts'

/** The open modal dialogs, the topmost one last. Everything below it is inert. */
export const openModals = new Watched<readonly HTMLDialogElement[]>([])

interface ModalProps extends Omit<ComponentProps<'dialog'>, 'onClose' | 'open'> {
  /** `any` adds a click beside it to Escape, in browsers that have `closedby`. */
  closedby?: 'any' | 'closerequest' | 'none'
  keepsFocus?: boolean | undefined
  onClose: () => void
}

/**
 * The browser's own dialog above the screen. It takes the focus in the task that opens it, so that the next key goes to
 * its first field, and it gives the focus back. With `keepsFocus` it is not modal, and the focus stays where it is.
 */
export function Modal({ closedby = 'any', keepsFocus = false, onClose, ...rest }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    if (!dialog || keepsFocus) return
    dialog.showModal()
    const fields = ':is(input, select, textarea, button, a[href], [tabindex="0"]):not(:disabled, [tabindex="-1"])'
    dialog.querySelector<HTMLElement>(fields)?.focus()
    openModals.set([...openModals.get(), dialog])
    return () => {
      openModals.set(openModals.get().filter((other) => other !== dialog))
      dialog.close()
    }
  }, [keepsFocus])
  const close = (event: SyntheticEvent | Event) => {
    event.preventDefault()
    if (closedby !== 'none') onClose()
  }
  const closeOutside = useEffectEvent((event: globalThis.KeyboardEvent) => {
    // Something above the dialog, such as the palette, or an input method may use Escape.
    if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) close(event)
  })
  useLayoutEffect(() => {
    if (!keepsFocus) return
    const before = document.activeElement
    const dialog = element.current
    const stop = listen(window, 'keydown', (event) => closeOutside(event))
    return () => {
      stop()
      if (before instanceof HTMLElement && dialog?.contains(document.activeElement)) before.focus()
    }
  }, [keepsFocus])
  // The browser must not close it itself, and content such as an editor may use Escape.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !event.nativeEvent.isComposing) close(event)
  }
  return createPortal(
    <dialog
      {...rest}
      ref={element}
      {...(keepsFocus ? { open: true } : { onKeyDown })}
      // A click beside it, for example into the text, must not move the focus.
      closedby={keepsFocus ? 'none' : closedby}
      onCancel={close}
    />,
    document.body,
  )
}
