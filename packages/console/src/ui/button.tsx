import type { ComponentProps, ReactNode } from 'react'
import css from './styles/controls.module.css'

interface Look {
  /** `primary` is the one filled button of a screen. `quiet` has no edge until it is pointed at. */
  look?: 'plain' | 'primary' | 'quiet' | 'danger' | undefined
  /** A square button that shows an icon; it needs an `aria-label`. */
  square?: boolean | undefined
}

export interface ButtonProps extends Look, Omit<ComponentProps<'button'>, 'disabled'> {
  /**
   * Why the button does nothing now, for example `your key lacks “publish”`. It stays visible and focusable and says
   * why.
   */
  blocked?: string | false | null | undefined
  /** Its work continues. Further clicks do nothing. */
  busy?: boolean | undefined
  /** The key that does the same, as shown to the user. */
  shortcut?: string | undefined
}

/** An action. For another address, use a `LinkButton` or a plain link. */
export function Button({ look, square, blocked, busy, shortcut, children, onClick, title, ...rest }: ButtonProps) {
  const idle = blocked || busy
  return (
    <button
      type="button"
      {...rest}
      className={join(buttonClass({ look, square }), busy && css['busy'], rest.className)}
      aria-disabled={idle ? true : undefined}
      aria-busy={busy || undefined}
      title={blocked || title}
      onClick={(event) => (idle ? event.preventDefault() : onClick?.(event))}
    >
      {children}
      {shortcut && (
        <span className={css['key']} aria-hidden="true" data-keys>
          {shortcut}
        </span>
      )}
      {blocked && <Hidden>({blocked})</Hidden>}
    </button>
  )
}

/** The classes of a button, for links that look like one. */
export function buttonClass({ look = 'plain', square }: Look = {}): string {
  return join(css['button'], look !== 'plain' && css[look], square && css['square'])
}

/** Text for screen readers only. */
export function Hidden({ id, children }: { id?: string; children: ReactNode }) {
  return (
    <span id={id} className="hidden-text">
      {children}
    </span>
  )
}

/** Joins the class names that are set. */
export function join(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
