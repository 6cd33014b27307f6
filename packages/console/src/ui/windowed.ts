import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { listen } from './watched.ts'

/** Rows of one line beyond the visible ones on both sides, so that keys and fast scrolling find rows. */
const spareLines = 16

interface Seen {
  count: number
  /** In pixels, as the following two. 0 before a row is drawn. */
  rowHeight: number
  /** The distance from the top of the page to the first row. Negative once the list is scrolled. */
  top: number
  /** The height of the page. */
  height: number
  /** Rows beyond the visible ones on both sides. */
  spare: number
}

/** The rows to render, from `from` up to but without `to`. Pure. */
export function windowOf({ count, rowHeight, top, height, spare }: Seen): { from: number; to: number } {
  if (rowHeight <= 0) return { from: 0, to: Math.min(count, spare * 4) }
  // The window moves in steps, so that scrolling renders once for several rows.
  const step = Math.ceil(spare / 2)
  const first = Math.floor(-top / rowHeight) - spare
  const from = Math.max(0, Math.min(Math.floor(first / step) * step, count - 1))
  const last = Math.ceil((height - top) / rowHeight) + spare
  return { from, to: Math.min(count, Math.max(Math.ceil(last / step) * step, from + 1)) }
}

interface Windowed<Box extends HTMLElement> {
  /** For the element that holds the rows. One of them has the attribute `data-line`. */
  list: RefObject<Box | null>
  from: number
  to: number
  /** In pixels: the room of the rows that are not rendered above and below. */
  before: number
  after: number
  rowHeight: number
}

/**
 * The rows of a long list that are worth rendering. All rows have one height.
 *
 * @param spare fewer for rows of many lines
 */
export function useWindowed<Box extends HTMLElement>(count: number, spare = spareLines): Windowed<Box> {
  const list = useRef<Box>(null)
  const lastHeight = useRef(0)
  const [{ from, to, rowHeight }, setShown] = useState({ ...windowOf({ ...nothing, count, spare }), rowHeight: 0 })
  useLayoutEffect(() => {
    const look = () => {
      const box = list.current
      if (!box) return
      const height = box.querySelector('[data-line]')?.getBoundingClientRect().height ?? lastHeight.current
      lastHeight.current = height
      const seen = { count, rowHeight: height, top: box.getBoundingClientRect().top, height: innerHeight, spare }
      const next = { ...windowOf(seen), rowHeight: height }
      setShown((now) => (now.from === next.from && now.to === next.to && now.rowHeight === height ? now : next))
    }
    look()
    const options = { capture: true, passive: true }
    const stops = [listen(window, 'scroll', look, options), listen(window, 'resize', look)]
    return () => stops.forEach((stop) => void stop())
  }, [count, spare])
  const end = Math.min(to, count)
  return { list, from, to: end, before: from * rowHeight, after: Math.max(0, count - end) * rowHeight, rowHeight }
}

const nothing = { rowHeight: 0, top: 0, height: 0 }
