import { lazy, Suspense, useSyncExternalStore } from 'react'
import { LoadBoundary } from '../../ui/deferred.tsx'
import { useSignedOut } from '../session.ts'

/** The parts that cover the screen. They are loaded when they are first used. */
export type Overlay =
  | 'palette'
  | 'find-version'
  | 'keys'
  | 'new-project'
  | 'new-draft'
  | 'rename-draft'
  | 'delete-draft'

const Palette = lazy(() => import('../palette.tsx'))
const KeyList = lazy(() => import('./dialogs/key-list.tsx'))
const NewProject = lazy(() => import('./dialogs/new-project.tsx'))
const NewDraft = lazy(() => import('./dialogs/new-draft.tsx'))
const RenameDraft = lazy(() => import('./dialogs/rename-draft.tsx'))
const DeleteDraft = lazy(() => import('./dialogs/delete-draft.tsx'))
const SignInSheet = lazy(() => import('./dialogs/sign-in-sheet.tsx'))
const Toasts = lazy(() => import('../../ui/toast.tsx').then(({ Toasts }) => ({ default: Toasts })))

let open: Overlay | null = null
const listeners = new Set<() => void>()

export function openOverlay(next: Overlay | null): void {
  open = next
  for (const listener of listeners) listener()
}

const close = () => openOverlay(null)

export function Overlays() {
  const shown = useSyncExternalStore(subscribe, () => open)
  const isSignedOut = useSignedOut()
  return (
    <>
      <LoadBoundary key={shown} fallback={null} onFailed={close}>
        <Suspense fallback={null}>
          {shown === 'palette' && <Palette onClose={close} />}
          {shown === 'find-version' && <Palette only="versions" onClose={close} />}
          {shown === 'keys' && <KeyList onClose={close} />}
          {shown === 'new-project' && <NewProject onClose={close} />}
          {shown === 'new-draft' && <NewDraft onClose={close} />}
          {shown === 'rename-draft' && <RenameDraft onClose={close} />}
          {shown === 'delete-draft' && <DeleteDraft onClose={close} />}
        </Suspense>
      </LoadBoundary>
      <LoadBoundary fallback={null}>
        <Suspense fallback={null}>
          {isSignedOut && <SignInSheet />}
          <Toasts />
        </Suspense>
      </LoadBoundary>
    </>
  )
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
