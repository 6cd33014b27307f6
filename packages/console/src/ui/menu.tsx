import {
  type ComponentProps,
  cloneElement,
  createContext,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  type RefObject,
  use,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { createPortal } from 'react-dom'
import { Icon } from './icon.tsx'
import css from './styles/overlays.module.css'
import { listen } from './watched.ts'

type Trigger = ReactElement<ComponentProps<'button'>>

interface MenuProps {
  /** A button element. */
  trigger: Trigger
  align?: 'start' | 'end'
  side?: 'bottom' | 'top'
  children: ReactNode
}

/** Closes the open menu. */
const Close = createContext(() => {})

/** A menu that opens at `trigger`. It takes the focus in the task that opens it, and gives it back to the trigger. */
export function Menu({ trigger, children, ...place }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const close = () => {
    // Before anything else opens, which would return the focus to the menu.
    button.current?.focus()
    setOpen(false)
  }
  return (
    <>
      {cloneElement(trigger, {
        id: trigger.props.id ?? id,
        ref: button,
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
        // Otherwise the menu would lose the focus and close, and the click would open it again.
        onMouseDown: (event: MouseEvent) => isOpen && event.preventDefault(),
        onClick: () => (isOpen ? close() : setOpen(true)),
      })}
      {isOpen && (
        <OpenMenu {...place} button={button} onClose={close} onLeave={() => setOpen(false)}>
          <Close value={close}>{children}</Close>
        </OpenMenu>
      )}
    </>
  )
}

interface OpenMenuProps extends Omit<MenuProps, 'trigger'> {
  button: RefObject<HTMLButtonElement | null>
  onClose: () => void
  /** The focus has gone elsewhere. */
  onLeave: () => void
}

function OpenMenu({ button, align = 'start', side = 'bottom', onClose, onLeave, children }: OpenMenuProps) {
  const menu = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (!menu.current || !button.current) return
    placeAt(menu.current, button.current.getBoundingClientRect(), align, side)
    itemsOf(menu.current)[0]?.focus()
  }, [button, align, side])
  useEffect(() => listen(window, 'resize', onLeave), [onLeave])
  const onBlur = ({ relatedTarget: next }: FocusEvent) => {
    // Another window may have the focus now. The menu gets it back with this one.
    if (document.hasFocus() && next !== button.current && !menu.current?.contains(next)) onLeave()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    // From the button, the browser handles Tab.
    if (event.key === 'Tab') return onClose()
    if (/^F\d/.test(event.key)) return
    event.preventDefault()
    event.stopPropagation()
    const items = itemsOf(event.currentTarget)
    const at = items.indexOf(document.activeElement as HTMLElement)
    if (event.key === 'Escape') onClose()
    else if (event.key === 'Enter' || event.key === ' ') event.repeat || items[at]?.click()
    else nextOf(items, at, event.key)?.focus()
  }
  return createPortal(
    // Content outside of landmarks is hard to reach with a screen reader.
    <section aria-label="Menu">
      <div
        ref={menu}
        className={css['popup']}
        role="menu"
        aria-labelledby={button.current?.id}
        tabIndex={-1}
        onBlur={onBlur}
        onKeyDown={onKeyDown}
        onMouseMove={({ target }) => (target as Element).closest<HTMLElement>(anyItem)?.focus({ preventScroll: true })}
      >
        {children}
      </div>
    </section>,
    document.body,
  )
}

const anyItem = '[role^="menuitem"]'

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>(anyItem)]
}

/** The item that a key leads to. A letter leads to the next item that starts with it. */
function nextOf(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  const { length } = items
  switch (key) {
    case 'ArrowDown':
      return items[(at + 1) % length]
    case 'ArrowUp':
      return items[at > 0 ? at - 1 : length - 1]
    case 'Home':
      return items[0]
    case 'End':
      return items[length - 1]
    default:
      return [...items.slice(at + 1), ...items.slice(0, at + 1)].find(
        ({ textContent }) => key.length === 1 && textContent.trim().toLowerCase().startsWith(key.toLowerCase()),
      )
  }
}

/** Between the button and its menu, and between the menu and the end of the window, in pixels. */
const gap = 4

/** On the other side of the button if there is more room. */
function placeAt(menu: HTMLElement, button: DOMRect, align: 'start' | 'end', side: 'bottom' | 'top'): void {
  const { innerWidth, innerHeight } = window
  const room = { bottom: innerHeight - button.bottom - 2 * gap, top: button.top - 2 * gap }
  const other = side === 'bottom' ? 'top' : 'bottom'
  const chosen = room[side] < menu.offsetHeight && room[other] > room[side] ? other : side
  menu.style.setProperty('--anchor-width', `${button.width}px`)
  menu.style.setProperty('--available-height', `${room[chosen]}px`)
  if (chosen === 'bottom') menu.style.top = `${button.bottom + gap}px`
  else menu.style.bottom = `${innerHeight - button.top + gap}px`
  const left = align === 'start' ? button.left : button.right - menu.offsetWidth
  menu.style.left = `${Math.max(gap, Math.min(left, innerWidth - menu.offsetWidth - gap))}px`
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
  const close = use(Close)
  const select = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    if (blocked) return
    // The item may disappear.
    if (staysOpen) currentTarget.closest<HTMLElement>('[role="menu"]')?.focus()
    else close()
    onSelect()
  }
  return (
    <Item role="menuitem" aria-disabled={Boolean(blocked)} data-danger={danger || undefined} onClick={select}>
      <span className={css['itemText']}>{children}</span>
      {(blocked || note) && <span className={css['itemNote']}>{blocked || note}</span>}
    </Item>
  )
}

function Item(props: ComponentProps<'button'>) {
  return <button type="button" className={css['item']} tabIndex={-1} {...props} />
}

interface MenuLinkProps {
  link: ReactElement<ComponentProps<'a'>>
  children: ReactNode
  note?: ReactNode
}

/** An item that leads to an address. `link` is the element, for example a router link. */
export function MenuLink({ link, children, note }: MenuLinkProps) {
  const close = use(Close)
  return cloneElement(link, {
    role: 'menuitem',
    tabIndex: -1,
    className: css['item'],
    onClick: close,
    children: (
      <>
        <span className={css['itemText']}>{children}</span>
        {note && <span className={css['itemNote']}>{note}</span>}
      </>
    ),
  })
}

export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a menu has groups of items
    <div role="group" aria-label={label}>
      <div className={css['group']} aria-hidden="true">
        {label}
      </div>
      {children}
    </div>
  )
}

export function MenuSeparator() {
  return <hr className={css['separator']} />
}

interface MenuChoiceProps<Value extends string> {
  label: string
  value: Value
  choices: readonly { value: Value; text: ReactNode }[]
  onChange: (value: Value) => void
}

/** One of a few values. The menu stays open, so that the effect can be seen. */
export function MenuChoice<Value extends string>({ label, value, choices, onChange }: MenuChoiceProps<Value>) {
  return (
    <MenuGroup label={label}>
      {choices.map((choice) => (
        <Item
          key={choice.value}
          role="menuitemradio"
          aria-checked={choice.value === value}
          onClick={() => onChange(choice.value)}
        >
          <span className={css['itemText']}>{choice.text}</span>
          {choice.value === value && (
            <span className={css['itemMark']}>
              <Icon name="check" />
            </span>
          )}
        </Item>
      ))}
    </MenuGroup>
  )
}
