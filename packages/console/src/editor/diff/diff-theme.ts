import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'

/** The line that stands for unchanged lines, without the signs around it: the console's fonts do not have them. */
const foldTheme = EditorView.theme({
  '.cm-collapsedLines': {
    background: 'var(--sunk)',
    color: 'var(--ink-2)',
    padding: 'var(--space-4) var(--space-8)',
    fontFamily: 'var(--sans)',
    fontSize: 'var(--text-12)',
    '&:before, &:after': { content: 'none' },
    '&:focus-visible': { outline: '2px solid var(--blue)', outlineOffset: '-2px' },
  },
})

/** The look of compared texts. An insertion is blue and underlined, a deletion red and struck through. */
export const diffTheme: Extension = [
  foldTheme,
  EditorView.theme({
    '&': { backgroundColor: 'transparent', color: 'var(--ink)' },
    '&.cm-focused': { outline: '2px solid var(--blue)', outlineOffset: '-2px' },
    '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: 'var(--text-13)', lineHeight: '1.375rem' },
    '.cm-content': { padding: 'var(--space-8) 0' },
    '.cm-specialChar': { color: 'var(--red)' },
    '.cm-gutters': {
      backgroundColor: 'transparent',
      color: 'var(--ink-2)',
      border: 'none',
      fontSize: 'var(--text-12)',
    },
    '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--blue-wash)' },
    '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--red-wash)' },
    '&.cm-merge-b .cm-changedText': {
      background: 'none',
      color: 'var(--blue)',
      textDecoration: 'underline 1px',
      textUnderlineOffset: '0.2em',
    },
    '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
      background: 'none',
      color: 'var(--red)',
      textDecoration: 'line-through 1px',
    },
    '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--blue)' },
    '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--red)' },
    '.cm-deletedChunk': { padding: '0 6px' },
    // Forced colors have no red and no blue, and draw no backgrounds. A nested selector cannot have an ampersand.
    '@media (forced-colors: active)': {
      '.cm-gutters .cm-gutter .cm-changedLineGutter': { background: 'CanvasText' },
      '.cm-gutters .cm-gutter .cm-deletedLineGutter': { background: 'CanvasText' },
      '.cm-deletedChunk .cm-deletedLine': { textDecoration: 'line-through' },
    },
  }),
]
