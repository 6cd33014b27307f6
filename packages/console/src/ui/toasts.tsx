import { Toast } from '@base-ui/react/toast'
import { useEffect } from 'react'
import css from './styles/overlays.module.css'
import { unshown } from './toast.tsx'
import { useWatched } from './watched.ts'

/** Enough to read a sentence and decide. */
const actionMs = 15_000

/** Renders the toasts. The page has exactly one. */
export function Toasts() {
  return (
    <Toast.Provider timeout={6000}>
      <Toast.Portal>
        <Toast.Viewport className={css['toasts']}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const { toasts, add } = Toast.useToastManager()
  const waiting = useWatched(unshown)
  useEffect(() => {
    if (waiting.length > 0) unshown.set([])
    for (const { text, action } of waiting)
      add({
        description: text,
        ...(action && { timeout: actionMs, actionProps: { children: action.label, onClick: action.onSelect } }),
      })
  }, [waiting, add])
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={css['toast']}>
      <Toast.Description className={css['toastText']} />
      {toast.actionProps && <Toast.Action className={css['toastAction']} />}
      <Toast.Close className={css['toastAction']}>Close</Toast.Close>
    </Toast.Root>
  ))
}
