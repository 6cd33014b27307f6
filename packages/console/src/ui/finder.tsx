import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { type ReactNode, useRef } from 'react'
import { focusFirst } from './dialog.tsx'
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
export function Finder({ label, placeholder, query, onQuery, items, empty, onClose }: FinderProps) {
  const groups = [...new Set(items.map(({ group }) => group))].map((name) => ({
    name,
    items: items.filter(({ group }) => group === name),
  }))
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={css['veil']} />
        <Dialog.Popup ref={popup} className={css['finder']} aria-label={label} initialFocus={() => focusFirst(popup)}>
          <Autocomplete.Root
            inline
            open
            mode="none"
            items={groups}
            value={query}
            onValueChange={(value, { reason }) => reason !== 'item-press' && onQuery(value)}
            itemToStringValue={(item: FinderItem) => item.label}
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input className={css['finderInput']} placeholder={placeholder} aria-label={label} />
            <Autocomplete.Empty className={css['finderEmpty']}>{items.length === 0 && empty}</Autocomplete.Empty>
            <Autocomplete.List className={css['finderList']} aria-label={label}>
              {(group: (typeof groups)[number]) => (
                <Autocomplete.Group key={group.name} items={group.items}>
                  <Autocomplete.GroupLabel className={css['group']}>{group.name}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: FinderItem) => <Line key={item.id} item={item} onClose={onClose} />}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Line({ item, onClose }: { item: FinderItem; onClose: () => void }) {
  const { label, note, blocked, onSelect } = item
  return (
    <Autocomplete.Item
      className={css['item']}
      value={item}
      disabled={Boolean(blocked)}
      onClick={() => {
        onClose()
        onSelect()
      }}
    >
      <span className={css['itemText']}>{label}</span>
      {(blocked || note) && <span className={css['itemNote']}>{blocked || note}</span>}
    </Autocomplete.Item>
  )
}
