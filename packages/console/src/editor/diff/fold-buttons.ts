import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, ViewPlugin } from '@codemirror/view'

/**
 * Makes a button of each line in place of unchanged lines. The merge package draws a plain element there, which
 * only a mouse can reach.
 */
export const foldButtons: Extension = [
  EditorState.phrases.of({ '$ unchanged lines': 'Show $ unchanged lines' }),
  ViewPlugin.define((view) => {
    // The first drawing of a view announces no update.
    view.requestMeasure({ key: 'fold-buttons', read: () => prepareFolds(view) })
    return { docViewUpdate: prepareFolds }
  }),
]

function prepareFolds(view: EditorView): void {
  for (const fold of view.contentDOM.querySelectorAll<HTMLElement>('.cm-collapsedLines:not([role])')) {
    fold.setAttribute('role', 'button')
    fold.tabIndex = 0
    let at = 0
    // The package removes the element when it is clicked, so its place is read before.
    fold.addEventListener('click', () => (at = view.posAtDOM(fold)), { capture: true })
    fold.addEventListener('click', () => {
      view.dispatch({ selection: { anchor: at } })
      view.focus()
    })
    fold.addEventListener('keydown', (event) => {
      const isOpening = event.key === 'Enter' || event.key === ' '
      // Keys pressed on the button must not reach the editor around it.
      if (isOpening || view.state.facet(EditorView.editable)) event.stopPropagation()
      if (!isOpening) return
      event.preventDefault()
      fold.click()
    })
  }
}
