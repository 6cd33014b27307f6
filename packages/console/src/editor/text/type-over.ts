import { EditorView } from '@codemirror/view'

/**
 * Replaces selected text with the typed text. Left to Chromium, the first character would get the style of the replaced
 * text in a `style` attribute, which the page's Content-Security-Policy refuses with an error in the console.
 */
export const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event
    const { main } = view.state.selection
    if (inputType !== 'insertText' || data === null || isComposing || main.empty || view.state.readOnly) return false
    const typed = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some((handle) => handle(view, main.from, main.to, data, typed))) view.dispatch(typed())
    return true
  },
})
