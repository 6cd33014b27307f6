import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { useShortcut } from '../../../app/shortcuts.ts'
import css from './panes.module.css'

interface SplitterProps {
  label: string
  /** The keys that move the focus to the line. */
  keys: string
  /** The pane that is resized, for example "list". */
  pane: string
  /** The width of the pane that it changes, in CSS pixels. */
  width: number
  range: readonly [least: number, most: number]
  /** The pane is on the right of the line. */
  fromEnd?: boolean
  onChange: (width: number) => void
}

const stepPx = 16

/** The line between two panes. It is dragged, or moved with the arrow keys after its shortcut. Tab passes it. */
export function Splitter({ label, keys, pane, width, range: [least, most], fromEnd, onChange }: SplitterProps) {
  const line = useRef<HTMLDivElement>(null)
  const before = useRef<Element | null>(null)
  useShortcut({
    keys,
    label: `Resize the ${pane}: ← → Home End, then ⏎`,
    group: 'Prompts',
    run() {
      before.current = line.current?.ownerDocument.activeElement ?? null
      line.current?.focus()
    },
  })
  const change = (next: number) => onChange(Math.round(Math.min(Math.max(next, least), most)))
  const onKeyDown = (event: KeyboardEvent) => {
    const toward = { ArrowLeft: -stepPx, ArrowRight: stepPx }[event.key]
    const limit = { Home: least, End: most }[event.key]
    if (toward) change(width + (fromEnd ? -toward : toward))
    else if (limit) change(limit)
    else if (['Enter', 'Escape'].includes(event.key)) (before.current as HTMLElement | null)?.focus()
    else return
    event.preventDefault()
  }
  const onPointerMove = (event: PointerEvent) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId))
      change(width + (fromEnd ? -event.movementX : event.movementX))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved
    <div
      ref={line}
      className={css['splitter']}
      data-side={fromEnd ? 'end' : 'start'}
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  )
}
