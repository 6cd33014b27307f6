import type { KeyboardEvent, PointerEvent } from 'react'
import css from './panes.module.css'

interface SplitterProps {
  label: string
  /** The width of the pane that it changes, in CSS pixels. */
  width: number
  range: readonly [least: number, most: number]
  /** The pane is on the right of the line. */
  fromEnd?: boolean
  onChange: (width: number) => void
}

const stepPx = 16

/** The line between two panes. Drag it, or move it with the arrow keys. */
export function Splitter({ label, width, range: [least, most], fromEnd, onChange }: SplitterProps) {
  const change = (next: number) => onChange(Math.round(Math.min(Math.max(next, least), most)))
  const onKeyDown = (event: KeyboardEvent) => {
    const toward = { ArrowLeft: -stepPx, ArrowRight: stepPx }[event.key]
    const limit = { Home: least, End: most }[event.key]
    if (toward) change(width + (fromEnd ? -toward : toward))
    else if (limit) change(limit)
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
      className={css['splitter']}
      data-side={fromEnd ? 'end' : 'start'}
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  )
}
