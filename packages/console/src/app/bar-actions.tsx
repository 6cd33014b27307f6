import { createContext, type ReactNode, use } from 'react'
import { createPortal } from 'react-dom'

/** The place for a screen's actions in the top bar. Null until the bar is shown. */
export const BarSlot = createContext<HTMLElement | null>(null)

/** Shows a screen's actions in the top bar. The one primary button comes last. */
export function BarActions({ children }: { children: ReactNode }) {
  const slot = use(BarSlot)
  return slot && createPortal(children, slot)
}
