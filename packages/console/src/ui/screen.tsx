import { createContext, type ReactNode, use } from 'react'
import { createPortal } from 'react-dom'
import { join } from './button.tsx'
import css from './styles/content.module.css'

/** The body of a screen that reads from top to bottom. `narrow` keeps tables and forms at a readable width. */
export function Screen({ narrow, children }: { narrow?: boolean; children: ReactNode }) {
  return <div className={join(css['screen'], narrow && css['narrow'])}>{children}</div>
}

/** The title of a screen, with what belongs beside it. A new screen moves the focus here. */
export function ScreenTitle({ children, beside }: { children: ReactNode; beside?: ReactNode }) {
  return (
    <header className={css['heading']}>
      <h1 className={css['title']} tabIndex={-1}>
        {children}
      </h1>
      {beside}
    </header>
  )
}

/** The place for a screen's actions in the top bar. Null until the bar is shown. */
export const BarSlot = createContext<HTMLElement | null>(null)

/** Shows a screen's actions in the top bar. The one primary button comes last. */
export function BarActions({ children }: { children: ReactNode }) {
  const slot = use(BarSlot)
  return slot && createPortal(children, slot)
}
