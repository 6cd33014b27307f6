import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react'
import { Modal } from './modal.tsx'
import css from './styles/overlays.module.css'

export interface FinderItem {
  id: string
  label: string
  group: string
  /** At the end of the line: a key, a state. */
  note?: ReactNode
  /** Why the item does nothing now. It stays visible. */
  blocked?: string | false | null | undefined
  onSelect: () => void
}

interface FinderProps {
  label: string
  placeholder: string
  query: string
  onQuery: (query: string) => void
  /** The matches, best first within their groups. */
  items: readonly FinderItem[]
  /** Shown if there is no match. */
  empty: ReactNode
  onClose: () => void
}

/** A box over the screen that finds things by typing. Arrows choose, ⏎ takes. */
export function Finder({ label, placeholder, query, onQuery, items: found, empty, onClose }: FinderProps) {
  const id = useId()
  const [at, setAt] = useState(0)
  const groups = [...new Set(found.map(({ group }) => group))]
  const items = groups.flatMap((name) => found.filter(({ group }) => group === name))
  const current = items[Math.min(at, items.length - 1)]
  const take = ({ blocked, onSelect }: FinderItem) => {
    if (blocked) return
    onClose()
    onSelect()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.nativeEvent.isComposing || !current || (!step && event.key !== 'Enter')) return
    event.preventDefault()
    if (step) setAt((items.indexOf(current) + step + items.length) % items.length)
    else take(current)
  }
  return (
    <Modal className={css['finder']} aria-label={label} onClose={onClose}>
      <input
        className={css['finderInput']}
        placeholder={placeholder}
        role="combobox"
        aria-label={label}
        aria-expanded
        aria-autocomplete="list"
        aria-controls={id}
        aria-activedescendant={current && `${id}-${items.indexOf(current)}`}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={({ target }) => {
          setAt(0)
          onQuery(target.value)
        }}
        onKeyDown={onKeyDown}
      />
      <p className={css['finderEmpty']} role="status">
        {!current && empty}
      </p>
      <div id={id} className={css['finderList']} role="listbox" aria-label={label}>
        {groups.map((name) => (
          // biome-ignore lint/a11y/useSemanticElements: a list has groups of options
          <div key={name} role="group" aria-label={name}>
            <div className={css['group']} aria-hidden="true">
              {name}
            </div>
            {items
              .filter(({ group }) => group === name)
              .map((item) => (
                <Line
                  key={item.id}
                  id={`${id}-${items.indexOf(item)}`}
                  item={item}
                  isCurrent={item === current}
                  onPoint={() => setAt(items.indexOf(item))}
                  onTake={() => take(item)}
                />
              ))}
          </div>
        ))}
      </div>
    </Modal>
  )
}

interface LineProps {
  id: string
  item: FinderItem
  isCurrent: boolean
  onPoint: () => void
  onTake: () => void
}

/** The focus stays in the field, which names the chosen line. */
function Line({ id, item: { label, note, blocked }, isCurrent, onPoint, onTake }: LineProps) {
  useEffect(() => {
    if (isCurrent) document.getElementById(id)?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent, id])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
    <div
      id={id}
      className={css['item']}
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      aria-disabled={Boolean(blocked)}
      onMouseMove={onPoint}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onTake}
    >
      <span className={css['itemText']}>{label}</span>
      {(blocked || note) && <span className={css['itemNote']}>{blocked || note}</span>}
    </div>
  )
}
