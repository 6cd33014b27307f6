import type { ReactNode } from 'react'
import { Button, join } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import css from './conflict.module.css'
import { MergeEditor, type MergeEditorProps } from './merge-editor.tsx'

interface Side {
  /** The person and the draft. */
  name: string
  /** Null if this side has deleted the prompt, or if the screen shows its text already. */
  text: string | null
  /** The label of the button that chooses this side. */
  choice: string
  onChoose: () => void
  shortcut?: string
}

interface ConflictProps extends Pick<MergeEditorProps, 'onChange' | 'covered' | 'onShown'> {
  /** The cause, in one or two sentences. */
  what: ReactNode
  stored: Side
  /** Its text can be edited. */
  edited: Side
  busy?: boolean
  className: string | undefined
  /** More actions. */
  children?: ReactNode
}

/** Two texts of one prompt, and the choice between them. */
export function Conflict({ what, stored, edited, busy = false, className, children, ...merge }: ConflictProps) {
  const only = stored.text ?? edited.text
  return (
    <section className={join(css['conflict'], className)} aria-label="Conflict">
      <div className={css['choice']}>
        <p className={css['what']}>{what}</p>
        {children}
        <Button busy={busy} shortcut={stored.shortcut} onClick={stored.onChoose}>
          {stored.choice}
        </Button>
        <Button look="primary" busy={busy} shortcut={edited.shortcut} onClick={edited.onChoose}>
          {edited.choice}
        </Button>
      </div>
      {stored.text !== null && edited.text !== null ? (
        <MergeEditor
          stored={{ name: stored.name, text: stored.text }}
          edited={{ name: edited.name, text: edited.text }}
          {...merge}
        />
      ) : (
        only !== null && <Code text={only} label="text" />
      )}
    </section>
  )
}
