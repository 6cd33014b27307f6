/** Separates Gemini's thoughts, which arrive as answer text between two marks. A flag announces a thought. */
import { asObject } from '../../json.ts'

export interface ThoughtMarks {
  state: 'answer' | 'opening' | 'thought'
  /** The start of a mark at the end of the last delta. */
  held: string
}

const opening = '<thought>'
const closing = '</thought>'

export function splitThought(
  marks: ThoughtMarks,
  piece: string,
  delta: Record<string, unknown>,
): { thought: string; text: string } {
  const isFlagged = asObject(asObject(delta['extra_content'])['google'])['thought'] === true
  if (marks.state === 'answer' && !isFlagged) return { thought: '', text: piece }
  if (marks.state === 'answer') marks.state = 'opening'
  let text = marks.held + piece
  marks.held = ''
  if (marks.state === 'opening') {
    if (text.length < opening.length && opening.startsWith(text)) {
      marks.held = text
      return { thought: '', text: '' }
    }
    marks.state = 'thought'
    if (text.startsWith(opening)) text = text.slice(opening.length)
  }
  const end = text.indexOf(closing)
  if (end >= 0) {
    marks.state = 'answer'
    return { thought: text.slice(0, end), text: text.slice(end + closing.length) }
  }
  const cut = text.length - markedEnd(text)
  if (!isFlagged && cut > 0) {
    marks.state = 'answer'
    return { thought: '', text }
  }
  marks.held = text.slice(cut)
  return { thought: text.slice(0, cut), text: '' }
}

function markedEnd(text: string): number {
  let length = Math.min(text.length, closing.length - 1)
  while (length > 0 && !text.endsWith(closing.slice(0, length))) length -= 1
  return length
}
