import { indentWithTab } from '@codemirror/commands'
import type { Extension } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import type { PromptBuffer } from './prompt-buffer.ts'

/**
 * Tab indents once the user has typed. Until then it moves the focus, so that tabbing through the page edits nothing. On
 * live it never edits: typing there continues in a draft.
 */
export function tabKey(buffer: PromptBuffer): Extension {
  let hasTyped = false
  const isEditing = () => hasTyped && buffer.state.place !== 'live'
  const { run = () => false, shift = () => false } = indentWithTab
  return [
    EditorView.updateListener.of(({ transactions }) => {
      hasTyped ||= transactions.some((one) => one.isUserEvent('input') || one.isUserEvent('delete'))
    }),
    // A window that loses the focus gives it back to the same place.
    EditorView.domEventHandlers({
      blur: () => {
        hasTyped &&= !document.hasFocus()
      },
    }),
    keymap.of([{ key: 'Tab', run: (view) => isEditing() && run(view), shift: (view) => isEditing() && shift(view) }]),
  ]
}
