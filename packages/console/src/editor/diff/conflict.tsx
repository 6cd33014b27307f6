import type { EditorView } from '@codemirror/view'
import { useNavigate } from '@tanstack/react-router'
import { useSession } from '../../app/session.ts'
import { keyText, useShortcuts } from '../../app/shortcuts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { say } from '../../ui/toast.tsx'
import type { Stored } from '../autosave.ts'
import type { PromptBuffer } from '../buffer/prompt-buffer.ts'
import css from '../frame/editor.module.css'
import { MergeEditor } from './merge-editor.tsx'

interface ConflictProps {
  buffer: PromptBuffer
  theirs: Stored
  /** The editor that the merge covers. */
  main: EditorView | null
  /** Called with the editor of my text when the merge is shown, and with null when it ends. */
  onMerging: (mine: EditorView | null) => void
}

const heads = { theirs: 'Theirs', mine: 'Mine, as it will be saved' }

/** Two texts of one prompt: theirs on the left, mine on the right. Mine can be edited, and takes theirs by block. */
export default function ConflictView(props: ConflictProps) {
  return props.theirs.contentHash ? <TwoTexts {...props} /> : <Deleted {...props} />
}

/** Someone deleted the prompt while it was open. Its text stays in the editor below. */
function Deleted({ buffer, main }: ConflictProps) {
  const navigate = useNavigate()
  const leave = () => {
    const { projectId, versionUuid } = buffer.place
    buffer.dispatch({ on: 'let-go' })
    void navigate({
      to: '/p/$project/v/$version/prompts',
      params: { project: String(projectId), version: versionUuid },
    })
  }
  const keep = () => {
    buffer.dispatch({ on: 'resolved', text: buffer.state.text })
    main?.focus()
  }
  return (
    <section className={css['deleted']} aria-label="Conflict">
      <div className={css['conflictHead']}>
        <p className={css['conflictWhat']}>This prompt was deleted while you had it open.</p>
        <CopyButton text={buffer.state.text} label="Copy my text" />
        <Button onClick={leave}>Leave it deleted</Button>
        <Button look="primary" onClick={keep}>
          Keep mine
        </Button>
      </div>
    </section>
  )
}

function TwoTexts({ buffer, theirs, main, onMerging }: ConflictProps) {
  const isOwn = theirs.by === useSession().apiKey.author.name
  const take = () => {
    const mine = buffer.state.text
    buffer.dispatch({ on: 'resolved', text: theirs.text })
    offer('Their text replaced yours', { label: 'Bring mine back', text: mine })
  }
  const keep = () => {
    buffer.dispatch({ on: 'resolved', text: buffer.state.text })
    offer('Your text replaced theirs', { label: 'Bring theirs back', text: theirs.text })
  }
  const offer = (what: string, { label, text }: { label: string; text: string }) => {
    if (text !== buffer.state.text) say(what, { label, onSelect: () => bringBack(buffer, text) })
  }
  useShortcuts([
    { keys: 'shift+F9', label: 'Take their text', group: 'Editor', run: take },
    { keys: 'F9', label: 'Keep my text', group: 'Editor', run: keep },
  ])

  return (
    <section className={css['conflict']} aria-label="Conflict">
      <div className={css['conflictHead']}>
        <p className={css['conflictWhat']}>
          {isOwn
            ? 'Your draft already has another text of this prompt.'
            : `${theirs.by ?? 'Someone else'} changed this prompt while you were typing.`}{' '}
          Nothing is saved until you choose.
        </p>
        <Button shortcut={keyText('shift+F9')} onClick={take}>
          Take theirs
        </Button>
        <Button look="primary" shortcut={keyText('F9')} onClick={keep}>
          Keep mine
        </Button>
      </div>
      <MergeEditor
        theirs={theirs.text}
        mine={buffer.state.text}
        heads={heads}
        covered={main}
        onShown={onMerging}
        // A merge in progress survives a reload, like any unsaved text.
        onChange={(text) => buffer.dispatch({ on: 'typed', text })}
      />
    </section>
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
