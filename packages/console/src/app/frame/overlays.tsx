import { holdKeys } from '../../ui/held-keys.ts'
import { Part } from '../../ui/part.ts'
import { useWatched, Watched } from '../../ui/watched.ts'
import type { Overlay } from './dialogs/opened.tsx'

/** What covers the screen. */
const part = new Part(() => import('./dialogs/opened.tsx'))
const shown = new Watched<Overlay | null>(null)
const close = () => shown.set(null)

export function openOverlay(next: Overlay): void {
  holdKeys()
  part.use(() => shown.set(next))
}

export function Overlays() {
  const overlay = useWatched(shown)
  const Opened = useWatched(part)?.Opened
  return Opened && <Opened shown={overlay} onClose={close} />
}
