import { Component, cloneElement, type ReactElement, type ReactNode, Suspense, useState } from 'react'

/** A button element, given to a part that opens from it. */
export type Trigger = ReactElement<Record<string, unknown>>

interface DeferredMenuProps {
  trigger: Trigger
  /** Loads the code of the menu. It is called early, when the pointer reaches the button. */
  load: () => Promise<unknown>
  /** The menu with its button. It opens when it is first rendered. */
  children: (trigger: Trigger) => ReactNode
}

/** Shows only the button of a menu until it is used, so that no screen waits for the code of menus. */
export function DeferredMenu({ trigger, load, children }: DeferredMenuProps) {
  const [isWanted, setWanted] = useState(false)
  const button = cloneElement(trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick: () => setWanted(true),
    // A failed load is reported when the button is used.
    onPointerEnter: () => void load().catch(() => undefined),
  })
  if (!isWanted) return button
  return (
    <LoadBoundary fallback={button}>
      <Suspense fallback={button}>{children(trigger)}</Suspense>
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
