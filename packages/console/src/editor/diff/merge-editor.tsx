import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { MergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { use, useLayoutEffect, useRef, useState } from 'react'
import { NonceContext } from '../../app/session.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { promptl } from '../promptl-mode.ts'
import { lineBreakOf } from '../text/line-ends.ts'
import { typeOver } from '../text/type-over.ts'
import css from './conflict.module.css'
import { diffTheme } from './diff-theme.ts'
import { foldButtons } from './fold-buttons.ts'
import { diffConfig, foldMargin } from './text-diff.tsx'

interface NamedText {
  name: string
  text: string
}

export interface MergeEditorProps {
  /** On the left. */
  stored: NamedText
  /** On the right, as it is at the beginning. */
  edited: NamedText
  /** Called with the whole edited text after each change. */
  onChange?: (text: string) => void
  /** The editor that the merge covers: its cursor, and its focus, go to the edited text and back. */
  covered?: EditorView | null
  /** Called with the editor of the edited text when the merge is shown, and with null when it ends. */
  onShown?: (edited: EditorView | null) => void
}

/**
 * The two texts of a conflict side by side. Parts of the left one can be taken over into the right one, which can be
 * edited freely.
 */
export function MergeEditor({ stored, edited, onChange, covered = null, onShown }: MergeEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const nonce = use(NonceContext)
  const [text, setText] = useState(edited.text)
  const latest = useRef({ text, onChange, onShown })
  latest.current = { text, onChange, onShown }
  // Before the next key, so that it reaches one of the two editors.
  useLayoutEffect(() => {
    if (!host.current) return
    const report = (next: string) => {
      setText(next)
      latest.current.onChange?.(next)
    }
    const view = mergeView(host.current, nonce, {
      stored: { name: stored.name, text: stored.text },
      edited: { name: edited.name, text: latest.current.text },
      report,
    })
    if (covered?.hasFocus) {
      continueIn(view.b, covered)
      view.b.focus()
    }
    latest.current.onShown?.(view.b)
    return () => {
      if (covered?.state.doc.eq(view.b.state.doc)) continueIn(covered, view.b)
      view.destroy()
      latest.current.onShown?.(null)
    }
  }, [stored.name, stored.text, edited.name, nonce, covered])
  return (
    <div className={css['merge']}>
      <div className={css['heads']}>
        <div className={css['head']}>
          {stored.name} <CopyButton text={stored.text} aria-label={`Copy: ${stored.name}`} />
        </div>
        <div className={css['head']}>
          {edited.name} <CopyButton text={text} aria-label={`Copy: ${edited.name}`} />
        </div>
      </div>
      <div ref={host} className={css['texts']} />
    </div>
  )
}

interface Texts extends Pick<MergeEditorProps, 'stored' | 'edited'> {
  report: (edited: string) => void
}

function mergeView(parent: HTMLElement, nonce: string, { stored, edited, report }: Texts): MergeView {
  const view = new MergeView({
    parent,
    a: { doc: stored.text, extensions: [sideOf(stored, nonce), EditorState.readOnly.of(true)] },
    b: {
      doc: edited.text,
      extensions: [
        sideOf(edited, nonce),
        history(),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) report(state.sliceDoc())
        }),
      ],
    },
    revertControls: 'a-to-b',
    renderRevertControl: () => takeButton(() => view.b.focus()),
    collapseUnchanged: { margin: foldMargin },
    diffConfig,
  })
  return view
}

function sideOf({ name, text }: NamedText, nonce: string): Extension {
  return [
    EditorView.cspNonce.of(nonce),
    EditorState.lineSeparator.of(lineBreakOf(text)),
    lineNumbers(),
    EditorView.lineWrapping,
    highlightSpecialChars(),
    promptl(),
    typeOver,
    keymap.of([...historyKeymap, ...defaultKeymap]),
    diffTheme,
    foldButtons,
    EditorView.contentAttributes.of({ 'aria-label': name }),
  ]
}

/** Takes one part over. The button goes away with it, so the focus needs another place. */
function takeButton(moveFocus: () => void): HTMLElement {
  const button = document.createElement('button')
  button.textContent = '→'
  button.title = 'Take this part'
  button.setAttribute('aria-label', 'Take this part')
  button.addEventListener('click', ({ detail }) => {
    // The package listens for the mouse alone. A click of the keyboard counts no clicks.
    if (detail > 0) return
    button.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, cancelable: true }))
    moveFocus()
  })
  return button
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
