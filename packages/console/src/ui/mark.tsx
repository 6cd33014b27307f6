import type { ReactNode } from 'react'
import { join } from './button.tsx'
import css from './styles/content.module.css'

/** The name, with the proofreader's dots below it. */
export function Wordmark() {
  return <span className={css['wordmark']}>stet</span>
}

/** Text that is live: it has the dotted underline everywhere in the console. */
export function Live({ children }: { children: ReactNode }) {
  return <span className={css['live']}>{children}</span>
}

export type Tone = 'green' | 'red' | 'amber' | 'blue'

interface ChipProps {
  tone?: Tone | undefined
  className?: string
  children: ReactNode
}

/** A short state or fact beside a name. Its words have the meaning; the color only repeats it. */
export function Chip({ tone, className, children }: ChipProps) {
  return (
    <span className={join(css['chip'], className)} data-tone={tone}>
      {children}
    </span>
  )
}

/** A key of the keyboard. */
export function Key({ children }: { children: ReactNode }) {
  return (
    <kbd className={css['key']} data-keys>
      {children}
    </kbd>
  )
}
