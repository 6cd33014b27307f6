import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { MergeView } from '@codemirror/merge'
import { EditorView, keymap } from '@codemirror/view'
import { useContext, useEffect, useRef } from 'react'
import { NonceContext } from '../../app/session.ts'
import { diffTheme } from './diff-theme.ts'
import { diffConfig, exactLines, fixedText, foldMargin, named } from './text-diff.tsx'

/** How every merge compares two texts, and how a part of the left one is taken over. */
export const mergeConfig = {
  revertControls: 'a-to-b',
  renderRevertControl: takeButton,
  collapseUnchanged: { margin: foldMargin },
  diffConfig,
} as const

interface MergeEditorProps {
  theirs: string
  mine: string
  /** The path of the prompt. */
  label: string
  /** Called with the whole text on the right after each change. */
  onChange: (text: string) => void
}

/** Two texts side by side. Parts of the left one can be taken over into the right one, which can be edited freely. */
export function MergeEditor({ theirs, mine, label, onChange }: MergeEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const nonce = useContext(NonceContext)
  const report = useRef(onChange)
  report.current = onChange
  useEffect(() => {
    if (!place.current) return
    const view = new MergeView({
      parent: place.current,
      a: { doc: theirs, extensions: [fixedText(nonce), named(`${label}, theirs`)] },
      b: {
        doc: mine,
        extensions: [
          EditorView.cspNonce.of(nonce),
          exactLines,
          EditorView.lineWrapping,
          diffTheme,
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': `${label}, yours` }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) report.current(state.sliceDoc())
          }),
        ],
      },
      ...mergeConfig,
    })
    return () => view.destroy()
  }, [theirs, mine, label, nonce])
  return <div ref={place} />
}

function takeButton(): HTMLElement {
  const button = document.createElement('button')
  button.textContent = '→'
  button.title = 'Take this part'
  button.setAttribute('aria-label', 'Take this part')
  return button
}
