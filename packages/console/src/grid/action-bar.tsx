import type { ReactNode } from 'react'
import { type Shortcut, useShortcuts } from '../app/shortcuts.ts'
import { Button, type ButtonProps, join } from '../ui/button.tsx'
import css from './grid.module.css'

export interface Action extends Pick<Shortcut, 'blocked' | 'inPalette'>, Pick<ButtonProps, 'look' | 'aria-pressed'> {
  keys: string
  text: string
  /** Beside the text. */
  note?: ReactNode
  run: () => void
}

interface ActionBarProps {
  label: string
  /** The part of the console, in the list of keys. */
  group: string
  actions: readonly Action[]
  /** What the actions are about, in the list of keys. */
  about?: string
  className?: string | undefined
  children?: ReactNode
}

/** Buttons, each with its key. */
export function ActionBar({ label, group, actions, about, className, children }: ActionBarProps) {
  useShortcuts(
    actions.map(({ keys, text, inPalette = true, blocked, run }) => ({
      ...{ keys, group, inPalette, blocked },
      label: about ? `${text}: ${about}` : text,
      run: () => (keys === 'Enter' && pressed()) || run(),
    })),
  )
  return (
    <div className={join(css['flow'], className)} role="toolbar" aria-label={label} data-scrolls>
      {actions.map(({ keys, text, note, run, look = 'quiet', inPalette: _, ...button }) => (
        <Button key={keys} {...{ look, ...button }} shortcut={keys === 'Enter' ? '⏎' : keys} onClick={run}>
          {text} {note}
        </Button>
      ))}
      {children}
    </div>
  )
}

/** ⏎ belongs to the button that has the focus. */
function pressed(): boolean {
  const { activeElement: it } = document
  const isButton = it instanceof HTMLElement && it.matches('button, a')
  if (isButton) it.click()
  return isButton
}
