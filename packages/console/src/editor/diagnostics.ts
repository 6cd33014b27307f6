import { type Diagnostic, lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics } from '@codemirror/lint'
import type { EditorState, Extension, Text, TransactionSpec } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import type { CompileIssue } from '@stet/sdk'
import type { FoundIssue } from './frame/use-issues.ts'
import { changeBetween, indexOf, type TextPlace } from './text/line-ends.ts'

/** The gutter mark, and the keys that go from error to error. */
export function diagnostics(): Extension {
  return [
    lintGutter(),
    keymap.of([
      { key: 'F8', run: nextDiagnostic },
      { key: 'Shift-F8', run: previousDiagnostic },
    ]),
  ]
}

/**
 * Shows the issues of a compiled text. The user may have typed on since it was sent, so each position is carried over
 * to the text in the editor.
 */
export function showIssues(state: EditorState, compiled: string, issues: readonly FoundIssue[]): TransactionSpec {
  const carry = carryOver(compiled, state.sliceDoc())
  const found = issues.map((issue): Diagnostic => {
    const start = indexOf(compiled, issue)
    const end = endOf(issue)
    const from = toPosition(state, carry(start))
    const to = end ? toPosition(state, carry(indexOf(compiled, end))) : wordEnd(state.doc, from)
    return { from, to: Math.max(from, to), severity: issue.severity, message: issue.message, source: issue.code }
  })
  return setDiagnostics(
    state,
    found.sort((a, b) => a.from - b.from),
  )
}

/** The position of an index of the stored text. A line break of two characters is one position in the editor. */
export function toPosition(state: EditorState, index: number): number {
  const { lineBreak, doc } = state
  if (lineBreak.length === 1) return Math.min(index, doc.length)
  const text = doc.sliceString(0, Math.min(index, doc.length), '\r\n').slice(0, index)
  return Math.min(index - (text.split('\r\n').length - 1) - (text.endsWith('\r') ? 1 : 0), doc.length)
}

/** The index in the stored text of a position in the editor. */
export function toIndex(state: EditorState, position: number): number {
  return state.sliceDoc(0, position).length
}

function endOf({ endLine, endColumn }: CompileIssue): TextPlace | null {
  return endLine && endColumn ? { line: endLine, column: endColumn } : null
}

/** Without an end, the word or tag at the start is marked. */
function wordEnd(doc: Text, from: number): number {
  const line = doc.lineAt(from)
  const rest = line.text.slice(from - line.from)
  return from + (/^(?:<\/?[\w-]*>?|[\w$]+|\{\{|.)/u.exec(rest)?.[0].length ?? 0)
}

function carryOver(compiled: string, current: string): (index: number) => number {
  const change = changeBetween(compiled, current)
  if (!change) return (index) => index
  const { from, to, insert } = change
  return (index) => (index <= from ? index : index >= to ? index + insert.length - (to - from) : from)
}
