import { Menu as Base } from '@base-ui/react/menu'
import { type ReactElement, type ReactNode, useLayoutEffect, useRef } from 'react'
import css from './styles/overlays.module.css'

export type MenuParts = typeof Base

/** The button of a menu, and where the menu opens. */
export interface MenuPlace {
  trigger: ReactElement<Record<string, unknown>>
  align?: 'start' | 'end'
  side?: 'bottom' | 'top'
}

interface OpenedMenuProps extends MenuPlace {
  openedBy: 'keyboard' | 'pointer'
  onClosed: () => void
  children: (parts: MenuParts) => ReactNode
}

/** A menu that opens when it is first rendered. */
export function OpenedMenu({
  trigger,
  openedBy,
  onClosed,
  align = 'start',
  side = 'bottom',
  children,
}: OpenedMenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  // Opened by a click without a pointer, the menu moves the focus to its first item.
  useLayoutEffect(() => {
    if (openedBy === 'keyboard') button.current?.click()
  }, [openedBy])
  return (
    <Base.Root defaultOpen={openedBy === 'pointer'} onOpenChangeComplete={(isOpen) => !isOpen && onClosed()}>
      <Base.Trigger ref={button} render={trigger} />
      {/* Content outside of landmarks is hard to reach with a screen reader. */}
      <Base.Portal role="region" aria-label="Menu">
        <Base.Positioner className={css['positioner']} sideOffset={4} align={align} side={side}>
          {/* By default the focus returns to the element that had it, which this menu's button has replaced. */}
          <Base.Popup
            className={css['popup']}
            finalFocus={(closedBy) => (closedBy === 'keyboard' ? button.current : true)}
          >
            {children(Base)}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
