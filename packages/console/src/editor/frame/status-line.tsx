import { Button } from '../../ui/button.tsx'
import { Live } from '../../ui/mark.tsx'
import { counted, Time, useNow } from '../../ui/time.tsx'
import type { Problem } from '../autosave.ts'
import type { Opened } from '../open-prompt.ts'
import type { TextPlace } from '../text/line-ends.ts'
import css from './editor.module.css'

/** Where the text is saved, who wrote last, and where the cursor is. */
export function StatusLine({ open, cursor, errors }: { open: Opened; cursor: TextPlace; errors: number }) {
  const { status, buffer, arrived } = open
  return (
    <div className={css['status']}>
      <span
        className={css['state']}
        data-kind={open.readOnly && status.kind !== 'kept' ? 'read-only' : status.kind}
        role="status"
      >
        <StatusText open={open} />
      </span>
      {status.kind === 'kept' && status.problem.kind !== 'signed-out' && (
        <Button look="quiet" onClick={() => buffer.dispatch({ on: 'flush' })}>
          Try again
        </Button>
      )}
      {arrived && <Arrival by={arrived.by} at={arrived.at} />}
      {status.kind !== 'kept' && (
        <span className={css['hint']} data-keys>
          Esc then Tab leaves the editor
        </span>
      )}
      {errors > 0 && (
        <span className={css['errors']}>
          {counted(errors, 'error')}
          <span data-keys> · F8</span>
        </span>
      )}
      <span className={css['cursor']}>
        {cursor.line}:{cursor.column}
      </span>
    </div>
  )
}

function StatusText({ open: { status, readOnly } }: { open: Opened }) {
  // A key without `write` may have taken the place of another one while text was not saved.
  if (readOnly && status.kind !== 'kept') return `Read-only: ${readOnly}`
  switch (status.kind) {
    case 'saved':
      return status.at ? (
        <>
          Saved <Time at={new Date(status.at).toISOString()} />
        </>
      ) : (
        'Saved'
      )
    case 'saving':
      return 'Saving'
    case 'kept':
      return `${status.isKept ? 'Not saved, kept here' : 'Not saved and not kept'}: ${problemText(status.problem)}`
    case 'conflict':
      return 'Conflict'
    case 'live':
      return (
        <>
          <Live>Live</Live>. Typing continues in a draft
        </>
      )
  }
}

const problems = {
  'signed-out': 'you are signed out',
  offline: 'the server is not responding',
  busy: 'the server is busy',
}

function problemText(problem: Problem): string {
  return problem.kind === 'refused' ? problem.message : problems[problem.kind]
}

/** "Leo, 5 s ago". */
function Arrival({ by, at }: { by: string | null; at: number }) {
  const seconds = Math.max(0, Math.round((useNow(1000) - at) / 1000))
  return (
    <span className={css['arrival']}>
      {by ?? 'Another change'}, {seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`} ago
    </span>
  )
}
