import type { EditorState, Range } from '@codemirror/state'
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view'
import { frontMatterOf } from '../text/front-matter.ts'

/** Every key reads this much of the text. */
const longest = 50_000

const line = Decoration.line({ class: 'cm-frontMatter' })

/** Gives front matter lines their own background. */
export const frontMatterLines = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    #end: number

    constructor({ state }: EditorView) {
      this.#end = endOf(state)
      this.decorations = linesTo(state, this.#end)
    }

    update({ docChanged, state }: ViewUpdate): void {
      if (!docChanged) return
      const end = endOf(state)
      // Text behind the front matter moves no line of it.
      if (end === this.#end && end === 0) return
      this.#end = end
      this.decorations = linesTo(state, end)
    }
  },
  { decorations: (plugin) => plugin.decorations },
)

/** The number of the line that ends the front matter, 0 without one. */
function endOf({ doc }: EditorState): number {
  const area = frontMatterOf(doc.sliceString(0, longest))
  return area ? doc.lineAt(area.to).number : 0
}

function linesTo({ doc }: EditorState, end: number): DecorationSet {
  const ranges: Range<Decoration>[] = []
  for (let at = 1; at <= end; at++) ranges.push(line.range(doc.line(at).from))
  return Decoration.set(ranges)
}
