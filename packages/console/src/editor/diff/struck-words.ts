import type { Extension } from '@codemirror/state'
import { type EditorView, ViewPlugin } from '@codemirror/view'

export const struckClass = 'stet-struck'

/** Strikes deleted words through, and no deletion of other characters. */
export const struckWords: Extension = ViewPlugin.define((view) => {
  // The first drawing of a view announces no update.
  view.requestMeasure({ key: 'struck-words', read: () => strikeWords(view) })
  return { docViewUpdate: strikeWords }
})

/**
 * Whether a line through the text leaves all of it readable. A hyphen, a dash or a sign such as `=` would vanish in the
 * line, so text with one of them is marked by its background only.
 */
export function canBeStruck(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}\s.,;:!?'’"“”()]+$/u.test(text) && /\p{L}|\p{N}/u.test(text)
}

function strikeWords(view: EditorView): void {
  for (const mark of view.contentDOM.querySelectorAll('.cm-deletedText, .cm-merge-a .cm-changedText'))
    mark.classList.toggle(struckClass, canBeStruck(mark.textContent ?? ''))
}
