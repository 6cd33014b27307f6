import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { struckClass, struckWords } from './struck-words.ts'

/** The line in place of unchanged lines, without the signs around it: the console's fonts do not have them. */
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

/**
 * The look of compared texts. Changed lines have a background and a sign in the gutter. An insertion is blue and
 * underlined. A deletion keeps the color of the text, and is struck through only where the line hides nothing.
 */
export const diffTheme: Extension = [
  foldTheme,
  struckWords,
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
    // A line below all of a new text says nothing.
    '[data-added] &.cm-merge-b .cm-changedText': { textDecoration: 'none' },
    '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
      background: 'var(--red-mark)',
      color: 'var(--ink)',
    },
    [`.${struckClass}`]: { textDecoration: 'line-through 1px color-mix(in oklab, var(--red) 70%, transparent)' },
    '.cm-changeGutter': { width: '1.5ch', paddingInlineStart: '0' },
    '.cm-changeGutter .cm-gutterElement': { textAlign: 'center', fontFamily: 'var(--mono)', fontWeight: '500' },
    '&.cm-merge-b .cm-changedLineGutter': { color: 'var(--blue)', background: 'var(--blue-wash)' },
    '&.cm-merge-b .cm-changedLineGutter:before': { content: '"+"' },
    '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': {
      color: 'var(--red)',
      background: 'var(--red-wash)',
    },
    '&.cm-merge-a .cm-changedLineGutter:before, .cm-deletedLineGutter:before': { content: '"−"' },
    '.cm-deletedChunk': { padding: '0 6px' },
  }),
]
