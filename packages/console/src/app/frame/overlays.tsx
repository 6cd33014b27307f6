import { useEffect } from 'react'
import { holdKeys } from '../../ui/held-keys.ts'
import { Part } from '../../ui/part.ts'
import { unshown } from '../../ui/toast.tsx'
import { useWatched, Watched } from '../../ui/watched.ts'
import { useSignedOut } from '../session.ts'
import type { Overlay } from './dialogs/opened.tsx'

/** The code of all overlays. */
const part = new Part(() => import('./dialogs/opened.tsx'))
const shown = new Watched<Overlay | null>(null)
const close = () => shown.set(null)

export function openOverlay(next: Overlay): void {
  holdKeys()
  part.use(() => shown.set(next))
}

export function Overlays() {
  const overlay = useWatched(shown)
  const isSignedOut = useSignedOut()
  const waiting = useWatched(unshown)
  // The part shows the toasts and the sign-in sheet, so a failure to load it cannot be shown: each reason tries again.
  useEffect(() => {
    if (isSignedOut || waiting.length > 0) part.prepare()
  }, [isSignedOut, waiting])
  const Opened = useWatched(part)?.Opened
  return Opened && <Opened shown={overlay} onClose={close} />
}
