import {
  cloneElement,
  createContext,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  use,
  useRef,
  useState,
} from 'react'
import { holdKeys } from './held-keys.ts'
import { Icon } from './icon.tsx'
import type { MenuParts, MenuPlace } from './opened-menu.tsx'
import { Part } from './part.ts'
import css from './styles/overlays.module.css'

/** The parts of an open menu, and where its chosen item leaves what it does once the menu is closed. */
const Opened = createContext<{ Base: MenuParts; chosen: RefObject<(() => void) | null> } | null>(null)
const opened = new Part(() => import('./opened-menu.tsx'))

/** A menu that opens at `trigger`, which must be a button element. */
export function Menu({ trigger, children, ...place }: MenuPlace & { children: ReactNode }) {
  const [openedBy, setOpenedBy] = useState<'keyboard' | 'pointer'>()
  const chosen = useRef<() => void>(null)
  const OpenedMenu = opened.get()?.OpenedMenu
  const act = () => {
    chosen.current?.()
    chosen.current = null
  }
  if (openedBy && OpenedMenu) {
    return (
      <OpenedMenu {...place} trigger={trigger} openedBy={openedBy} onClosed={act}>
        {(Base) => <Opened value={{ Base, chosen }}>{children}</Opened>}
      </OpenedMenu>
    )
  }
  return cloneElement(trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick({ detail }: MouseEvent) {
      // A click that a key causes has no count of clicks.
      const isByKey = detail === 0
      if (isByKey) holdKeys()
      opened.use(() => setOpenedBy(isByKey ? 'keyboard' : 'pointer'))
    },
  })
}

function useOpened() {
  const menu = use(Opened)
  if (!menu) throw new Error('An item was rendered outside of a menu')
  return menu
}

interface MenuItemProps {
  children: ReactNode
  /** At the end of the line: a key, a state. */
  note?: ReactNode
  /** Why the item does nothing now. The item stays visible. */
  blocked?: string | false | null | undefined
  danger?: boolean
  /** The menu stays open, for an item that changes what the menu shows. */
  staysOpen?: boolean
  onSelect: () => void
}

export function MenuItem({ children, note, blocked, danger, staysOpen, onSelect }: MenuItemProps) {
  const { Base, chosen } = useOpened()
  // A dialog that opens returns the focus to where it was before, so the menu must have returned it first.
  const select = () => {
    chosen.current = onSelect
  }
  return (
    <Base.Item
      className={css['item']}
      disabled={Boolean(blocked)}
      closeOnClick={!staysOpen}
      data-danger={danger || undefined}
      onClick={blocked ? undefined : staysOpen ? onSelect : select}
    >
      <span className={css['itemText']}>{children}</span>
      {(blocked || note) && <span className={css['itemNote']}>{blocked || note}</span>}
    </Base.Item>
  )
}

/** An item that leads to an address. `link` is the element, for example a router link. */
export function MenuLink({
  link,
  children,
  note,
}: {
  link: MenuPlace['trigger']
  children: ReactNode
  note?: ReactNode
}) {
  const { Base } = useOpened()
  return (
    <Base.LinkItem className={css['item']} render={link} closeOnClick>
      <span className={css['itemText']}>{children}</span>
      {note && <span className={css['itemNote']}>{note}</span>}
    </Base.LinkItem>
  )
}

export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  const { Base } = useOpened()
  return (
    <Base.Group>
      <Base.GroupLabel className={css['group']}>{label}</Base.GroupLabel>
      {children}
    </Base.Group>
  )
}

export function MenuSeparator() {
  const { Base } = useOpened()
  return <Base.Separator className={css['separator']} />
}

interface MenuChoiceProps<Value extends string> {
  label: string
  value: Value
  choices: readonly { value: Value; text: ReactNode }[]
  onChange: (value: Value) => void
}

/** One of a few values. The menu stays open, so that the effect can be seen. */
export function MenuChoice<Value extends string>({ label, value, choices, onChange }: MenuChoiceProps<Value>) {
  const { Base } = useOpened()
  return (
    <Base.RadioGroup value={value} onValueChange={onChange}>
      <Base.GroupLabel className={css['group']}>{label}</Base.GroupLabel>
      {choices.map((choice) => (
        <Base.RadioItem key={choice.value} value={choice.value} className={css['item']} closeOnClick={false}>
          <span className={css['itemText']}>{choice.text}</span>
          <Base.RadioItemIndicator className={css['itemMark']}>
            <Icon name="check" />
          </Base.RadioItemIndicator>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  )
}

/** Something that is on or off. The menu stays open, so that the effect can be seen. */
export function MenuToggle({
  on,
  onChange,
  children,
}: {
  on: boolean
  onChange: (on: boolean) => void
  children: ReactNode
}) {
  const { Base } = useOpened()
  return (
    <Base.CheckboxItem className={css['item']} checked={on} onCheckedChange={onChange} closeOnClick={false}>
      <span className={css['itemText']}>{children}</span>
      <Base.CheckboxItemIndicator className={css['itemMark']}>
        <Icon name="check" />
      </Base.CheckboxItemIndicator>
    </Base.CheckboxItem>
  )
}
