import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'
import { Hidden } from './button.tsx'
import css from './styles/content.module.css'

interface TableProps {
  label: string
  /** The names of up to six columns. A last one without a name has buttons. */
  head: readonly string[]
  children: ReactNode
}

/** A table whose rows become blocks on a narrow screen. It scrolls sideways inside its own box if it is still too wide. */
export function Table({ label, head, children }: TableProps) {
  // The styles show a name beside each cell of a block.
  const names = Object.fromEntries(head.map((name, column) => [`--head-${column + 1}`, JSON.stringify(name)]))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className={css['scroll']} aria-label={label} tabIndex={0}>
      <table className={css['table']} style={names} data-actions={head.at(-1) === '' || undefined}>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name || <Hidden>Actions</Hidden>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

/** Named figures beside each other. `wide` has room for names of people and models. */
export function Figures({ wide, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <dl className={css['figures']} data-wide={wide}>
      {children}
    </dl>
  )
}

/** One of `Figures`. A text that is cut is whole in its tooltip. */
export function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={css['figure']}>
      <dt>{label}</dt>
      <dd title={typeof children === 'string' ? children : undefined}>{children}</dd>
    </div>
  )
}

interface TabsProps<Name extends string> {
  /** The page may have several rows of tabs, so their ids start with this. */
  id: string
  label: string
  tabs: readonly { name: Name; text: ReactNode; note?: ReactNode }[]
  current: Name
  onChange: (name: Name) => void
}

/** Tabs above a panel with the id `<id>-panel-<name>`. Arrow keys move between them. */
export function Tabs<Name extends string>({ id, label, tabs, current, onChange }: TabsProps<Name>) {
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab may be outside of the row
  useEffect(() => showSelected(list.current), [current])
  const onKeyDown: ComponentProps<'div'>['onKeyDown'] = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    const at = tabs.findIndex((tab) => tab.name === current)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (!next) return
    event.preventDefault()
    onChange(next.name)
    const buttons = event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')
    buttons[tabs.indexOf(next)]?.focus()
  }
  return (
    <div ref={list} className={css['tabs']} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ name, text, note }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${id}-tab-${name}`}
          aria-controls={`${id}-panel-${name}`}
          aria-selected={name === current}
          tabIndex={name === current ? 0 : -1}
          className={css['tab']}
          onClick={() => onChange(name)}
        >
          {text}
          {note}
        </button>
      ))}
    </div>
  )
}

/** Scrolls only the row: `scrollIntoView` would move the page as well. */
function showSelected(list: HTMLElement | null): void {
  const tab = list?.querySelector('[aria-selected="true"]')?.getBoundingClientRect()
  const row = list?.getBoundingClientRect()
  if (!list || !tab || !row) return
  if (tab.left < row.left) list.scrollLeft -= row.left - tab.left + edge
  else if (tab.right > row.right) list.scrollLeft += tab.right - row.right + edge
}

/** Between the selected tab and the end of the row, in pixels. */
const edge = 16

/** The classes of a row of links that look like tabs. */
export const linkTabs = { list: css['tabs'] ?? '', link: css['tab'] ?? '' }
