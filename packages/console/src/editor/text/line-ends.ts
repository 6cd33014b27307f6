/** The line break of a text. A text with several kinds is edited by its line feeds; its other breaks stay characters. */
export function lineBreakOf(text: string): '\n' | '\r\n' | '\r' {
  if (!text.includes('\r')) return '\n'
  const breaks = text.match(/\r\n|\r|\n/g) ?? []
  const first = breaks[0] as '\n' | '\r\n' | '\r'
  return breaks.every((one) => one === first) ? first : '\n'
}

/** A place in a text. Lines and columns start at 1, as in compile issues; `\r\n`, `\r` and `\n` each end a line. */
export interface TextPlace {
  line: number
  column: number
}

/** Moves the editor's cursor to a place of the text, and the focus to the editor. */
export type GoTo = (place: TextPlace) => void

/** The index of a place in the text as it is stored. A place outside of the text becomes the nearest one inside. */
export function indexOf(text: string, { line, column }: TextPlace): number {
  const ends = /\r\n|\r|\n/g
  let start = 0
  for (let at = 1; at < line; at++) {
    if (!ends.exec(text)) break
    start = ends.lastIndex
  }
  const end = ends.exec(text)?.index ?? text.length
  return Math.min(start + Math.max(column, 1) - 1, end)
}

export function placeOf(text: string, index: number): TextPlace {
  const before = text.slice(0, index).split(/\r\n|\r|\n/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/** The smallest change that turns one text into another: what replaces the characters from `from` to `to`. */
export function changeBetween(before: string, after: string): { from: number; to: number; insert: string } | null {
  if (before === after) return null
  const limit = Math.min(before.length, after.length)
  let from = 0
  while (from < limit && before[from] === after[from]) from++
  // Do not split \r\n or a surrogate pair.
  while (from > 0 && /[\r\uD800-\uDBFF]/.test(before[from - 1] ?? '')) from--
  let kept = 0
  while (kept < limit - from && before.at(-1 - kept) === after.at(-1 - kept)) kept++
  while (kept > 0 && /[\n\uDC00-\uDFFF]/.test(before.at(-kept) ?? '')) kept--
  return { from, to: before.length - kept, insert: after.slice(from, after.length - kept) }
}
