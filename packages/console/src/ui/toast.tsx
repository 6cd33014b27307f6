import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { createPortal } from 'react-dom'
import { openModals } from './modal.tsx'
import css from './styles/overlays.module.css'
import { useWatched, Watched } from './watched.ts'

interface Said {
  text: string
  /** An action for the user, for example "Undo". */
  action?: { label: string; onSelect: () => void } | undefined
}

const plainMs = 6000
/** Enough to read a sentence and decide. */
const actionMs = 15_000
let count = 0
const shown = new Watched<readonly (Said & { id: number })[]>([])

/** Says that something happened, for a few seconds. Errors do not belong here: they are shown where they occurred. */
export function say(text: string, action?: Said['action']): void {
  shown.set([...shown.get(), { id: ++count, text, action }])
}

/**
 * Renders the toasts, which take their room from the screen and cover nothing. The page has exactly one. While a modal
 * dialog is open, they are its last part: elsewhere it would cover them, and they would be inert. Each of the two places
 * stays while toasts come and go: screen readers announce what is added to a live region, not what a new one has.
 */
export function Toasts() {
  const toasts = useWatched(shown)
  const dialog = useWatched(openModals).at(-1)
  const close = (id: number) => shown.set(shown.get().filter((said) => said.id !== id))
  const list = toasts.map(({ id, ...said }) => <Toast key={id} {...said} onClose={() => close(id)} />)
  return (
    <>
      <Place>{dialog ? null : list}</Place>
      {dialog && createPortal(<Place>{list}</Place>, dialog)}
    </>
  )
}

/** Without toasts it has no name, so that it is no landmark. */
function Place({ children }: { children: ReactNode[] | null }) {
  return (
    <section className={css['toasts']} aria-label={children?.length ? 'Notifications' : undefined} aria-live="polite">
      {children}
    </section>
  )
}

function Toast({ text, action, onClose }: Said & { onClose: () => void }) {
  // It stays while it is pointed at or has the focus.
  const [isHeld, setHeld] = useState(false)
  const close = useEffectEvent(onClose)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => close(), action ? actionMs : plainMs)
    return () => clearTimeout(timer)
  }, [isHeld, action])
  const hold = () => setHeld(true)
  const release = () => setHeld(false)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its buttons have the keys
    <div className={css['toast']} onPointerEnter={hold} onPointerLeave={release} onFocus={hold} onBlur={release}>
      <p className={css['toastText']}>{text}</p>
      {action && (
        <button
          type="button"
          className={css['toastAction']}
          onClick={() => {
            onClose()
            action.onSelect()
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" className={css['toastAction']} onClick={onClose}>
        Close
      </button>
    </div>
  )
}
