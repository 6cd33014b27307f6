import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { MergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useNavigate } from '@tanstack/react-router'
import { use, useLayoutEffect, useRef, useState } from 'react'
import { NonceContext, useSession } from '../../app/session.ts'
import { keyText, useShortcuts } from '../../app/shortcuts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import type { Stored } from '../autosave.ts'
import type { PromptBuffer } from '../buffer/prompt-buffer.ts'
import css from '../frame/editor.module.css'
import { editorTheme } from '../frame/theme.ts'
import { promptl } from '../promptl-mode.ts'
import { lineBreakOf } from '../text/line-ends.ts'
import { foldTheme } from './diff-theme.ts'
import { mergeConfig } from './merge-editor.tsx'

interface ConflictProps {
  buffer: PromptBuffer
  theirs: Stored
  /** The editor that the merge covers. */
  main: EditorView | null
  /** Called with the editor of my text when the merge is shown, and with null when it ends. */
  onMerging: (mine: EditorView | null) => void
}

/** Two texts of one prompt: theirs on the left, mine on the right. Mine can be edited, and takes theirs by block. */
export default function ConflictView(props: ConflictProps) {
  return props.theirs.contentHash ? <TwoTexts {...props} /> : <Deleted buffer={props.buffer} />
}

/** Someone deleted the prompt while it was open. Its text stays in the editor below. */
function Deleted({ buffer }: { buffer: PromptBuffer }) {
  const navigate = useNavigate()
  const leave = () => {
    const { projectId, versionUuid } = buffer.place
    buffer.dispatch({ on: 'let-go' })
    void navigate({
      to: '/p/$project/v/$version/prompts',
      params: { project: String(projectId), version: versionUuid },
    })
  }
  return (
    <section className={css['deleted']} aria-label="Conflict">
      <div className={css['conflictHead']}>
        <p className={css['conflictWhat']}>This prompt was deleted or renamed while you had it open.</p>
        <CopyButton text={buffer.state.text} label="Copy my text" />
        <Button onClick={leave}>Leave it deleted</Button>
        <Button look="primary" onClick={() => buffer.dispatch({ on: 'resolved', text: buffer.state.text })}>
          Keep mine
        </Button>
      </div>
    </section>
  )
}

function TwoTexts({ buffer, theirs, main, onMerging }: ConflictProps) {
  const nonce = use(NonceContext)
  const isOwn = theirs.by === useSession().apiKey.author.name
  const host = useRef<HTMLDivElement>(null)
  const [mine, setMine] = useState(buffer.state.text)
  const take = () => buffer.dispatch({ on: 'resolved', text: theirs.text })
  const keep = () => buffer.dispatch({ on: 'resolved', text: buffer.state.text })
  useShortcuts([
    { keys: 'shift+F9', label: 'Take their text', group: 'Editor', run: take },
    { keys: 'F9', label: 'Keep my text', group: 'Editor', run: keep },
  ])

  // Before the next key, so that it reaches one of the two editors.
  useLayoutEffect(() => {
    if (!host.current) return
    const created = new MergeView({
      parent: host.current,
      a: {
        doc: theirs.text,
        extensions: [EditorView.cspNonce.of(nonce), sideOf(theirs.text, 'Their text'), EditorState.readOnly.of(true)],
      },
      b: {
        doc: buffer.state.text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          sideOf(buffer.state.text, 'My text. Press Escape, then Tab to leave the editor.'),
          history(),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return
            // A merge in progress survives a reload, like any unsaved text.
            buffer.dispatch({ on: 'typed', text: update.state.sliceDoc() })
            setMine(update.state.sliceDoc())
          }),
        ],
      },
      ...mergeConfig,
    })
    if (main?.hasFocus) {
      continueIn(created.b, main)
      created.b.focus()
    }
    onMerging(created.b)
    return () => {
      if (main?.state.doc.eq(created.b.state.doc)) continueIn(main, created.b)
      created.destroy()
      onMerging(null)
    }
  }, [buffer, theirs, nonce, main, onMerging])

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
      <div className={css['conflictSides']}>
        <div className={css['conflictSide']}>
          Theirs <CopyButton text={theirs.text} label="Copy" aria-label="Copy their text" />
        </div>
        <div className={css['conflictSide']}>
          Mine, as it will be saved <CopyButton text={mine} label="Copy" aria-label="Copy my text" />
        </div>
      </div>
      <div ref={host} className={css['merge']} />
    </section>
  )
}

/** Puts the cursor at the same place of the same text. */
function continueIn(view: EditorView, earlier: EditorView): void {
  const { anchor, head } = earlier.state.selection.main
  const end = view.state.doc.length
  view.dispatch({
    selection: { anchor: Math.min(anchor, end), head: Math.min(head, end) },
    effects: EditorView.scrollIntoView(Math.min(head, end), { y: 'center' }),
  })
}

function sideOf(text: string, label: string): Extension {
  return [
    EditorState.lineSeparator.of(lineBreakOf(text)),
    lineNumbers(),
    EditorView.lineWrapping,
    promptl(),
    keymap.of([...historyKeymap, ...defaultKeymap]),
    editorTheme,
    foldTheme,
    EditorView.contentAttributes.of({ 'aria-label': label }),
  ]
}
