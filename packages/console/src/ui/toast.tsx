import { Toast } from '@base-ui/react/toast'
import css from './styles/overlays.module.css'

/** Enough to read a sentence and decide. */
const actionMs = 15_000

/** The toasts of the page. Anything may add one, also outside of a component. */
const toasts = Toast.createToastManager()

/**
 * Says that something happened, for a few seconds. Errors do not belong here: they are shown where they occurred.
 *
 * @param action what the user may do about it, for example "Undo"
 */
export function say(text: string, action?: { label: string; onSelect: () => void }): void {
  toasts.add({
    description: text,
    ...(action && { timeout: actionMs, actionProps: { children: action.label, onClick: action.onSelect } }),
  })
}

/** Renders the toasts. The page has exactly one. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={toasts} timeout={6000}>
      <Toast.Portal>
        <Toast.Viewport className={css['toasts']}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={css['toast']}>
      <Toast.Description className={css['toastText']} />
      {toast.actionProps && <Toast.Action className={css['toastAction']} />}
      <Toast.Close className={css['toastAction']}>Close</Toast.Close>
    </Toast.Root>
  ))
}
