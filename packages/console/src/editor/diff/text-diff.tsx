import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, lineNumbers } from '@codemirror/view'
import { useContext, useEffect, useRef } from 'react'
import { NonceContext } from '../../app/session.ts'
import { hiddenCharacters, signOf } from '../../ui/hidden-characters.ts'
import { useMedia } from '../../ui/watched.ts'
import { diffTheme } from './diff-theme.ts'
import { foldButtons } from './fold-buttons.ts'
import css from './text-diff.module.css'

export type DiffLayout = 'unified' | 'split'

interface TextDiffProps {
  before: string
  after: string
  layout: DiffLayout
  /** Names the texts for screen readers: the path and its two versions. */
  label: string
}

/** Unchanged lines beyond this distance from a change are folded. */
export const foldMargin = 3
/** A comparison that takes longer falls back to whole lines, so that a huge text does not block the page. */
export const diffConfig = { scanLimit: 2000, timeout: 200 }

/** Two texts and what differs. Nothing here can be edited. */
export function TextDiff({ before, after, layout, label }: TextDiffProps) {
  const place = useRef<HTMLDivElement>(null)
  const nonce = useContext(NonceContext)
  // Two columns of a phone are too narrow to read.
  const isSplit = useMedia('(width >= 45rem)') && layout === 'split'

  useEffect(() => {
    if (!place.current) return
    const show = isSplit ? splitView : unifiedView
    const view = show(place.current, before, after, [...fixedText(nonce), lineNumbers()], label)
    return () => view.destroy()
  }, [before, after, isSplit, label, nonce])
  return <div ref={place} className={css['diff']} data-added={before === '' || undefined} />
}

/** Splits at \n only, so that \r stays part of the text and nothing is lost when the text is read back. */
const exactLines = EditorState.lineSeparator.of('\n')

/** The \r of a line break of Windows would show as a space. */
const shownCharacters = highlightSpecialChars({
  specialChars: hiddenCharacters,
  addSpecialChars: /\r/u,
  render(code, description) {
    const mark = document.createElement('span')
    if (code === 0x0d) return mark
    mark.className = 'cm-specialChar'
    mark.textContent = signOf(String.fromCharCode(code))
    mark.title = description ?? ''
    return mark
  },
})

/** A text that can be read, selected and copied, but not changed. */
function fixedText(nonce: string): Extension[] {
  return [
    EditorView.cspNonce.of(nonce),
    exactLines,
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    shownCharacters,
    diffTheme,
    foldButtons,
  ]
}

/** Names a text for screen readers and lets the keyboard scroll it. */
function named(label: string): Extension {
  return EditorView.contentAttributes.of({
    'aria-label': label,
    'aria-readonly': 'true',
    role: 'textbox',
    tabindex: '0',
  })
}

function splitView(parent: HTMLElement, before: string, after: string, extensions: Extension[], label: string) {
  return new MergeView({
    parent,
    a: { doc: before, extensions: [...extensions, named(`${label}, before`)] },
    b: { doc: after, extensions: [...extensions, named(`${label}, after`)] },
    collapseUnchanged: { margin: foldMargin },
    diffConfig,
  })
}

function unifiedView(parent: HTMLElement, before: string, after: string, extensions: Extension[], label: string) {
  const merge = unifiedMergeView({
    original: before,
    mergeControls: false,
    collapseUnchanged: { margin: foldMargin },
    diffConfig,
  })
  return new EditorView({ parent, doc: after, extensions: [...extensions, named(label), merge] })
}
