import {
  Component,
  cloneElement,
  createContext,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  Suspense,
  useState,
} from 'react'

/** A button element, given to a part that opens from it. */
export type Trigger = ReactElement<Record<string, unknown>>

/** What a menu was opened with while its code was not loaded. The menu opens when it is first rendered. */
export const StartOpen = createContext<'keyboard' | 'pointer' | undefined>(undefined)

interface DeferredMenuProps {
  trigger: Trigger
  /** Loads the code of the menu. It is called early, when the pointer reaches the button. */
  load: () => Promise<unknown>
  /** The menu with its button. It opens when it is first rendered. */
  children: (trigger: Trigger) => ReactNode
}

/** Shows only the button of a menu until it is used, so that no screen waits for the code of menus. */
export function DeferredMenu({ trigger, load, children }: DeferredMenuProps) {
  const [openedBy, setOpenedBy] = useState<'keyboard' | 'pointer'>()
  const button = cloneElement(trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    // A click that a key causes has no count of clicks.
    onClick: ({ detail }: MouseEvent) => setOpenedBy(detail === 0 ? 'keyboard' : 'pointer'),
    // A failed load is reported when the button is used.
    onPointerEnter: () => void load().catch(() => undefined),
  })
  if (!openedBy) return button
  return (
    <LoadBoundary fallback={button}>
      <Suspense fallback={button}>
        <StartOpen value={openedBy}>{children(trigger)}</StartOpen>
      </Suspense>
    </LoadBoundary>
  )
}

interface LoadBoundaryProps {
  fallback: ReactNode
  onFailed?: () => void
  children: ReactNode
}

/** Keeps the screen when the code of a part cannot be loaded, and says so. */
export class LoadBoundary extends Component<LoadBoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override componentDidCatch() {
    void import('./toast.tsx').then(({ say }) => say('This part of the page could not be loaded'))
    this.props.onFailed?.()
  }

  override render() {
    return this.state.hasFailed ? this.props.fallback : this.props.children
  }
}
