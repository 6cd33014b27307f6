import {
  Annotation,
  type ChangeSet,
  Compartment,
  EditorSelection,
  EditorState,
  type Extension,
  StateEffect,
  StateField,
  Text,
  Transaction,
  type TransactionSpec,
} from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view'
import { hunksOf } from '@stet/template/merge'
import { changeBetween, lineBreakOf } from '../text/line-ends.ts'
import type { EditorPort, PromptBuffer } from './prompt-buffer.ts'

/** Marks changes made by the buffer, so they are not reported back to it. */
const fromBuffer = Annotation.define<boolean>()
const lineBreak = new Compartment()
/** How long a colleague's lines stay marked. */
const flashMs = 3000
const flashed = StateEffect.define<ChangeSet | null>()

/** Lines that a colleague has just changed. */
const flashes = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects)
      if (effect.is(flashed)) return effect.value ? changedLines(transaction.state.doc, effect.value) : Decoration.none
    return transaction.docChanged ? marks.map(transaction.changes) : marks
  },
  provide: (field) => EditorView.decorations.from(field),
})

/** The extensions that keep an editor and its buffer the same, to the last character. */
export function bufferExtensions(buffer: PromptBuffer): Extension {
  return [
    // Only the text's own line break ends a line. Other keys type a character, which stays.
    lineBreak.of(EditorState.lineSeparator.of(lineBreakOf(buffer.state.text))),
    EditorState.transactionFilter.of(withOwnLineBreaks),
    flashes,
    EditorView.updateListener.of((update) => {
      if (update.docChanged && !update.transactions.every((one) => one.annotation(fromBuffer))) buffer.typed()
    }),
  ]
}

/** Gives the buffer its editor. Returns the function that takes it away. */
export function connectView(view: EditorView, buffer: PromptBuffer): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const port: EditorPort = {
    read: () => view.state.sliceDoc(),
    show(text, flash) {
      // Texts that differ only in their line breaks need no change, but the next key must use the new line break.
      const effects: StateEffect<unknown>[] = [lineBreak.reconfigure(EditorState.lineSeparator.of(lineBreakOf(text)))]
      const changes = view.state.changes(changesTo(view.state, text))
      if (changes.empty) {
        view.dispatch({ effects })
        return
      }
      effects.push(flashed.of(flash ? changes : null))
      // Undo takes back only what the user did, never a colleague's change.
      const annotations = [fromBuffer.of(true), ...(flash ? [Transaction.addToHistory.of(false)] : [])]
      view.dispatch({ changes, annotations, effects })
      clearTimeout(timer)
      if (flash) timer = setTimeout(() => view.dispatch({ effects: flashed.of(null) }), flashMs)
    },
    edit(text) {
      const changes = changesTo(view.state, text)
      if (changes.length > 0) view.dispatch({ changes, userEvent: 'edit' })
    },
  }
  const detach = buffer.attach(port)
  return () => {
    clearTimeout(timer)
    detach()
  }
}

/** The smallest changes to another text. The cursor stays where it is, relative to the text around it. */
function changesTo(state: EditorState, text: string): { from: number; to: number; insert: Text }[] {
  const before = linesOf(state.doc.toString())
  const after = linesOf(text.split(lineBreakOf(text)).join('\n'))
  let [start, line] = [0, 0]
  return (hunksOf(before, after) ?? [{ from: 0, to: before.length, lines: after }]).flatMap((hunk) => {
    start += before.slice(line, hunk.from).join('').length
    line = hunk.from
    const change = changeBetween(before.slice(hunk.from, hunk.to).join(''), hunk.lines.join(''))
    if (!change) return []
    return { from: start + change.from, to: start + change.to, insert: Text.of(change.insert.split('\n')) }
  })
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/)
}

/** Pasted text gets the line breaks of the text around it. */
function withOwnLineBreaks(transaction: Transaction): Transaction | TransactionSpec {
  if (!transaction.isUserEvent('input')) return transaction
  const changes: { from: number; to: number; insert: Text }[] = []
  let isForeign = false
  transaction.changes.iterChanges((from, to, _fromB, _toB, inserted) => {
    const text = inserted.toString()
    const lines = text.split(/\r\n|\r|\n/)
    isForeign ||= lines.length !== inserted.lines || text.includes('\r')
    changes.push({ from, to, insert: Text.of(lines) })
  })
  const last = changes.at(-1)
  if (!isForeign || !last) return transaction
  const set = transaction.startState.changes(changes)
  return {
    changes: set,
    selection: EditorSelection.cursor(set.mapPos(last.to, 1)),
    scrollIntoView: true,
    userEvent: 'input.paste',
  }
}

const flashLine = Decoration.line({ class: 'cm-theirs' })

function changedLines(doc: Text, changes: ChangeSet): DecorationSet {
  const starts = new Set<number>()
  changes.iterChangedRanges((_fromA, _toA, from, to) => {
    for (let at = from; at <= to; at = doc.lineAt(at).to + 1) starts.add(doc.lineAt(at).from)
  })
  return Decoration.set([...starts].map((start) => flashLine.range(start)))
}
