import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import css from './grid.module.css'

interface PartProps {
  title: string
  /** Names the part in the label of its Remove button, for example "arm 2". */
  what: string
  /** Absent if it has to stay. */
  onRemove?: (() => void) | undefined
  children: ReactNode
}

/** One of several parts of a form. */
export function Part({ title, what, onRemove, children }: PartProps) {
  return (
    <div className={css['part']}>
      {onRemove && (
        // In the legend, it would be part of the name of the group.
        <Button look="quiet" square className={css['remove']} aria-label={`Remove ${what}`} onClick={onRemove}>
          <Icon name="close" />
        </Button>
      )}
      <fieldset>
        <legend>{title}</legend>
        {children}
      </fieldset>
    </div>
  )
}
