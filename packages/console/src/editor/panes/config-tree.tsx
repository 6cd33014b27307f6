import { type CSSProperties, type KeyboardEvent, type RefObject, useMemo, useRef, useState } from 'react'
import { Hidden } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip } from '../../ui/mark.tsx'
import type { Opened } from '../open-prompt.ts'
import type { GoTo } from '../text/line-ends.ts'
import { placeOfValue } from '../text/yaml-place.ts'
import { type ConfigRow, rowsOfConfig } from './config-rows.ts'
import css from './config-tree.module.css'
import panes from './panes.module.css'

interface ConfigTreeProps {
  of: 'schema' | 'tools'
  label: string
  open: Opened
  goTo: RefObject<GoTo | null>
}

/**
 * The schema or the tools of the last saved front matter. They are edited as text: a row leads to its line. Arrow keys
 * move and open, as in the list of prompts.
 */
export function ConfigTree({ of, label, open: { document, buffer }, goTo }: ConfigTreeProps) {
  const value = document.config[of]
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const { rows, isCut } = useMemo(() => rowsOfConfig(of, value, toggled), [of, value, toggled])
  const [focused, setFocused] = useState<string | null>(null)
  const tree = useRef<HTMLDivElement>(null)
  const at = Math.max(
    rows.findIndex(({ key }) => key === focused),
    0,
  )
  const focus = (index: number) => tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')[index]?.focus()
  const toggle = ({ key, isOpen }: ConfigRow) => {
    if (isOpen === null) return
    const next = new Set(toggled)
    if (!next.delete(key)) next.add(key)
    setToggled(next)
  }
  const show = ({ path }: ConfigRow) => {
    const place = placeOfValue(buffer.state.text, path)
    if (place) goTo.current?.(place)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at]
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const step = stepOf(event.key, rows, at)
    if (typeof step === 'number') focus(step)
    else if (step === 'toggle') toggle(row)
    else if (event.key === 'Enter' || event.key === ' ') show(row)
    else return
    event.preventDefault()
  }
  return (
    <>
      <h2 className={panes['heading']}>{label}</h2>
      {rows.length === 0 ? (
        <p className={panes['quiet']}>None</p>
      ) : (
        <div ref={tree} role="tree" tabIndex={-1} aria-label={label} className={css['tree']} onKeyDown={onKeyDown}>
          {rows.map((row, index) => (
            <Line
              key={row.key}
              row={row}
              isCurrent={index === at}
              onFocus={() => setFocused(row.key)}
              onToggle={() => toggle(row)}
              onShow={() => show(row)}
            />
          ))}
        </div>
      )}
      {isCut && <p className={panes['quiet']}>The rest is too large to be shown here. It is in the text.</p>}
    </>
  )
}

interface LineProps {
  row: ConfigRow
  /** Tab leads to this row. */
  isCurrent: boolean
  onFocus: () => void
  onToggle: () => void
  onShow: () => void
}

function Line({ row, isCurrent, onFocus, onToggle, onShow }: LineProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys of all rows
    <div
      role="treeitem"
      tabIndex={isCurrent ? 0 : -1}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={row.isOpen ?? undefined}
      className={css['row']}
      style={{ '--level': row.level } as CSSProperties}
      title="Show this line of the text"
      onFocus={onFocus}
      onClick={onShow}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: left and right arrow do the same */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it is a part of the row */}
      <span
        className={css['sign']}
        data-open={row.isOpen || undefined}
        onClick={(event) => {
          if (row.isOpen === null) return
          event.stopPropagation()
          onToggle()
        }}
      >
        {row.isOpen !== null && <Icon name="right" size={12} />}
      </span>
      <span className={css['facts']}>
        <code className={css['name']}>{row.name}</code>
        {row.type && (
          <span className={panes['quiet']}>
            <Hidden>, </Hidden>
            {row.type}
          </span>
        )}
        {row.isRequired && <Chip tone="blue">required</Chip>}
        {row.description && <span className={panes['description']}>{row.description}</span>}
      </span>
    </div>
  )
}

/** Where a key leads: to another row, or to opening or closing this one. */
function stepOf(key: string, rows: readonly ConfigRow[], at: number): number | 'toggle' | null {
  const row = rows[at]
  if (key === 'ArrowDown') return Math.min(at + 1, rows.length - 1)
  if (key === 'ArrowUp') return Math.max(at - 1, 0)
  if (key === 'Home') return 0
  if (key === 'End') return rows.length - 1
  if (key === 'ArrowRight') return row?.isOpen === false ? 'toggle' : row?.isOpen ? at + 1 : null
  if (key !== 'ArrowLeft' || !row) return null
  if (row.isOpen) return 'toggle'
  const above = rows.slice(0, at).findLastIndex(({ level }) => level < row.level)
  return above < 0 ? null : above
}
