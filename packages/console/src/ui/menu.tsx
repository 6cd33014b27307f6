import { Menu as Base } from '@base-ui/react/menu'
import { type ReactElement, type ReactNode, use, useLayoutEffect, useRef } from 'react'
import { StartOpen } from './deferred.tsx'
import { Icon } from './icon.tsx'
import css from './styles/overlays.module.css'

/** A menu that opens at `trigger`, which must be a button element. */
export function Menu({ trigger, children, align = 'start', side = 'bottom' }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  const openedBy = use(StartOpen)
  // Opened by a click without a pointer, the menu moves the focus to its first item.
  useLayoutEffect(() => {
    if (openedBy === 'keyboard') button.current?.click()
  }, [openedBy])
  return (
    <Base.Root defaultOpen={openedBy === 'pointer'}>
      <Base.Trigger ref={button} render={trigger} />
      {/* Content outside of landmarks is hard to reach with a screen reader. */}
      <Base.Portal role="region" aria-label="Menu">
        <Base.Positioner className={css['positioner']} sideOffset={4} align={align} side={side}>
          {/* By default the focus returns to the element that had it, which a menu that was loaded late has replaced. */}
          <Base.Popup
            className={css['popup']}
            finalFocus={(closedBy) => (closedBy === 'keyboard' ? button.current : true)}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

export interface MenuProps {
  trigger: ReactElement<Record<string, unknown>>
  children: ReactNode
  align?: 'start' | 'end'
  side?: 'bottom' | 'top'
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
  return (
    <Base.Item
      className={css['item']}
      disabled={Boolean(blocked)}
      closeOnClick={!staysOpen}
      data-danger={danger || undefined}
      onClick={blocked ? undefined : onSelect}
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
  link: MenuProps['trigger']
  children: ReactNode
  note?: ReactNode
}) {
  return (
    <Base.LinkItem className={css['item']} render={link} closeOnClick>
      <span className={css['itemText']}>{children}</span>
      {note && <span className={css['itemNote']}>{note}</span>}
    </Base.LinkItem>
  )
}

export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Base.Group>
      <Base.GroupLabel className={css['group']}>{label}</Base.GroupLabel>
      {children}
    </Base.Group>
  )
}

export function MenuSeparator() {
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
  return (
    <Base.CheckboxItem className={css['item']} checked={on} onCheckedChange={onChange} closeOnClick={false}>
      <span className={css['itemText']}>{children}</span>
      <Base.CheckboxItemIndicator className={css['itemMark']}>
        <Icon name="check" />
      </Base.CheckboxItemIndicator>
    </Base.CheckboxItem>
  )
}
