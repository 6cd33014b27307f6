import type { EditorView } from '@codemirror/view'
import { useNavigate } from '@tanstack/react-router'
import { toPrompts } from '../../app/addresses.ts'
import { useSession } from '../../app/session.ts'
import { keyText, useShortcuts } from '../../app/shortcuts.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { say } from '../../ui/toast.tsx'
import type { Stored } from '../autosave.ts'
import type { PromptBuffer } from '../buffer/prompt-buffer.ts'
import css from '../frame/editor.module.css'
import { Conflict } from './conflict.tsx'

interface UnsavedConflictProps {
  buffer: PromptBuffer
  stored: Stored
  /** The editor that the merge covers. */
  main: EditorView | null
  /** Called with the editor of the typed text when the merge is shown, and with null when it ends. */
  onMerging: (edited: EditorView | null) => void
}

/** The text of an open prompt conflicts with the one that the server has. */
export default function UnsavedConflict(props: UnsavedConflictProps) {
  return props.stored.contentHash ? <SameLines {...props} /> : <Deleted {...props} />
}

/** Someone deleted the prompt while it was open. Its text stays in the editor below. */
function Deleted({ buffer, main }: UnsavedConflictProps) {
  const navigate = useNavigate()
  const leave = () => {
    const { projectId, versionUuid } = buffer.place
    buffer.dispatch({ on: 'let-go' })
    void navigate(toPrompts(projectId, versionUuid))
  }
  const keep = () => {
    buffer.dispatch({ on: 'resolved', text: buffer.state.text })
    main?.focus()
  }
  return (
    <Conflict
      what="This prompt was deleted while you had it open."
      className={css['deleted']}
      stored={{ name: 'Deleted', text: null, choice: 'Leave it deleted', onChoose: leave }}
      edited={{ name: 'Just typed', text: null, choice: 'Keep the prompt', onChoose: keep }}
    >
      <CopyButton text={buffer.state.text} label="Copy the text" />
    </Conflict>
  )
}

function SameLines({ buffer, stored, main, onMerging }: UnsavedConflictProps) {
  const isOwn = stored.by === useSession().apiKey.author.name
  const choose = (text: string, said: string) => {
    const other = text === stored.text ? buffer.state.text : stored.text
    buffer.dispatch({ on: 'resolved', text })
    if (other !== text) say(said, { label: 'Bring it back', onSelect: () => bringBack(buffer, other) })
  }
  const take = () => choose(stored.text, 'The draft’s text replaced your text')
  const keep = () => choose(buffer.state.text, 'Your text replaced the draft’s text')
  useShortcuts([
    { keys: 'shift+F9', label: 'Use the draft’s text', group: 'Editor', run: take },
    { keys: 'F9', label: 'Keep my text', group: 'Editor', run: keep },
  ])
  const what = isOwn
    ? 'Your draft has other changes in the same lines.'
    : `${stored.by ?? 'Someone'} changed the same lines of this draft.`
  const name = isOwn ? 'In your draft' : stored.by ? `${stored.by}, in this draft` : 'In this draft'
  return (
    <Conflict
      what={`${what} Nothing is saved until you choose.`}
      className={css['text']}
      stored={{
        ...{ name, text: stored.text, onChoose: take, shortcut: keyText('shift+F9') },
        choice: isOwn || !stored.by ? 'Use the draft’s text' : `Use ${stored.by}’s text`,
      }}
      edited={{
        ...{ name: 'Just typed', text: buffer.state.text, onChoose: keep, shortcut: keyText('F9') },
        choice: 'Keep my text',
      }}
      covered={main}
      onShown={onMerging}
      // A merge in progress survives a reload, like any unsaved text.
      onChange={(text) => buffer.dispatch({ on: 'typed', text })}
    />
  )
}

/** As an edit, so that undo returns to the chosen text. */
function bringBack(buffer: PromptBuffer, text: string): void {
  if (buffer.isOpen) {
    buffer.edit(text)
  } else {
    void navigator.clipboard?.writeText(text)
    say('The prompt is closed, so the text was copied')
  }
}
