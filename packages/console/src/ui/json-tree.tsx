import { type KeyboardEvent, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { join } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { bytesOf, isDataUrl, mediaTypeOf, sizeText } from './data-url.ts'
import { withSigns } from './hidden-characters.ts'
import { type JsonRow, jsonRows, mostRows } from './json-rows.ts'
import { Chip } from './mark.tsx'
import { MessageBody } from './message-body.tsx'
import css from './styles/json-tree.module.css'
import layout from './styles/layout.module.css'
import { counted, countText } from './time.tsx'
import { useWindowed } from './windowed.ts'

/** A line shows this much of a text. The chosen line's text follows the tree. */
const lineLength = 240

/** A JSON value as a tree that opens and closes. Arrows move and open, and the chosen line can be copied. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [at, setAt] = useState<number | null>(null)
  const { rows, isCut } = useMemo(() => jsonRows(value, toggled), [value, toggled])
  const { list, from, to, before, after, rowHeight } = useWindowed<HTMLDivElement>(rows.length)
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  const current = at === null ? undefined : rows[Math.min(at, rows.length - 1)]
  useLayoutEffect(() => {
    if (at !== null && box.current) showLine(box.current, at, rowHeight)
  }, [at, rowHeight])
  const toggle = (row: JsonRow) => {
    const next = new Set(toggled)
    if (!next.delete(row.path)) next.add(row.path)
    setToggled(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const now = at ?? -1
    const row = rows[now]
    const next = moved(rows, now, event.key)
    if (next !== undefined) setAt(next)
    else if (row && row.size > 0 && isToggle(row, event.key)) toggle(row)
    else return
    event.preventDefault()
  }
  return (
    <div className={layout['close']}>
      <div
        ref={box}
        className={css['box']}
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={at !== null && at >= from && at < to ? `${id}-${at}` : undefined}
        onKeyDown={onKeyDown}
        onFocus={() => at === null && setAt(0)}
        data-scrolls
      >
        <div ref={list} role="presentation">
          <div style={{ height: before }} role="presentation" />
          {rows.slice(from, to).map((row, place) => (
            <Line
              key={row.path}
              id={`${id}-${from + place}`}
              row={row}
              isCurrent={row === current}
              onTake={(toggles) => {
                setAt(from + place)
                if (toggles && row.size > 0) toggle(row)
              }}
            />
          ))}
          <div style={{ height: after }} role="presentation" />
        </div>
      </div>
      {isCut && (
        <p className={layout['small']}>Only the first {countText(mostRows)} lines are shown. Close entries above.</p>
      )}
      {current && <Chosen row={current} />}
    </div>
  )
}

interface LineProps {
  id: string
  row: JsonRow
  isCurrent: boolean
  onTake: (toggles: boolean) => void
}

/** The focus stays on the tree, which names the chosen line and has the keys. */
function Line({ id, row, isCurrent, onTake }: LineProps) {
  const { name, depth, kind, size, isOpen } = row
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    <div
      id={id}
      className={css['line']}
      role="treeitem"
      tabIndex={-1}
      aria-level={depth + 1}
      aria-selected={isCurrent}
      aria-expanded={size > 0 ? isOpen : undefined}
      style={{ paddingInlineStart: `${Math.min(depth, 24) + 0.25}rem` }}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onTake(true)}
      data-line
    >
      <span className={css['fold']} aria-hidden="true">
        {size > 0 && (isOpen ? '▾' : '▸')}
      </span>
      {name !== null && <span className={css['name']}>{withSigns(name.slice(0, lineLength))}: </span>}
      {kind === 'leaf' ? <Leaf value={row.value} /> : <span className={layout['small']}>{sizeOf(row)}</span>}
    </div>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value !== 'string') return <span className={css['plain']}>{String(value)}</span>
  if (isDataUrl(value))
    return (
      <Chip>
        {mediaTypeOf(value)} · {sizeText(bytesOf(value))}
      </Chip>
    )
  const isLong = value.length > lineLength
  return (
    <span className={css['text']}>{withSigns(JSON.stringify(value.slice(0, lineLength))) + (isLong ? '…' : '')}</span>
  )
}

/** The chosen line: what leads to it, and its value. */
function Chosen({ row: { path, value } }: { row: JsonRow }) {
  return (
    <div className={join(layout['close'], css['chosen'])}>
      <div className={layout['row']}>
        <code className={css['path']}>{path ? withSigns(path) : 'The whole value'}</code>
        {path && <CopyButton text={path} label="Copy path" />}
        <CopyButton text={() => textOf(value)} label="Copy value" />
      </div>
      {typeof value === 'string' && value.length > 60 && <MessageBody text={value} />}
    </div>
  )
}

function sizeOf({ kind, size }: JsonRow): string {
  return kind === 'array' ? `[ ${counted(size, 'item')} ]` : `{ ${counted(size, 'key')} }`
}

/** The value as JSON, and a text as it is. A value that is nested too deeply has no JSON here. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value, null, 2)
  } catch {
    return ''
  }
}

function isToggle({ isOpen }: JsonRow, key: string): boolean {
  return key === 'Enter' || key === ' ' || key === (isOpen ? 'ArrowLeft' : 'ArrowRight')
}

/** The line that a key leads to. */
function moved(rows: readonly JsonRow[], at: number, key: string): number | undefined {
  const last = rows.length - 1
  if (key === 'ArrowDown') return Math.min(at + 1, last)
  if (key === 'ArrowUp') return Math.max(at - 1, 0)
  if (key === 'Home') return 0
  if (key === 'End') return last
  const row = rows[at]
  if (key === 'ArrowRight' && row?.isOpen) return Math.min(at + 1, last)
  if (key !== 'ArrowLeft' || !row || row.isOpen) return undefined
  const holder = rows.slice(0, at).findLastIndex(({ depth }) => depth < row.depth)
  return holder < 0 ? undefined : holder
}

function showLine(box: HTMLElement, at: number, rowHeight: number): void {
  const top = at * rowHeight
  if (top < box.scrollTop) box.scrollTop = top
  else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight
}
