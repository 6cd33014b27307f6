/** Cuts the text of a message into parts that a browser lays out fast. Pure. */
import { withSigns } from './hidden-characters.ts'

/** A paragraph of this size is laid out fast. Longer texts are shown in several. */
export const blockSize = 16_384
const longDataUrl = /data:[\w.+-]+\/[\w.+-]+(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/=]{128,}/g

interface Piece {
  /** Its place in the text. */
  at: number
  text: string
  dataUrl?: string
}

/** The first `limit` characters of a text, not counting data URLs. */
export function piecesOf(text: string, limit: number): { pieces: Piece[]; isCut: boolean } {
  const pieces: Piece[] = []
  let at = 0
  let left = limit
  const addText = (until: number) => {
    for (const block of blocksOf(text.slice(at, Math.min(until, at + left)))) {
      pieces.push({ at, text: withSigns(block) })
      at += block.length
      left -= block.length
    }
    return at === until
  }
  for (const { 0: dataUrl, index } of text.matchAll(longDataUrl)) {
    if (!addText(index)) return { pieces, isCut: true }
    pieces.push({ at, text: '', dataUrl })
    at += dataUrl.length
  }
  return { pieces, isCut: !addText(text.length) }
}

/** Cuts at a line end, and inside a line only if it is very long. */
function blocksOf(text: string): string[] {
  const blocks: string[] = []
  for (let from = 0; from < text.length; ) {
    const lineEnd = text.indexOf('\n', from + blockSize)
    const end = Math.min(lineEnd < 0 ? text.length : lineEnd + 1, from + blockSize * 4)
    blocks.push(text.slice(from, end))
    from = end
  }
  return blocks
}
