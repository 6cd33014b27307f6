/**
 * Separates Gemini's thoughts, which arrive as answer text between two marks. A flag on the delta says that it contains
 * a thought.
 */
import { asObject } from '../../json.ts'

export interface ThoughtMarks {
  /** @param delta the source of the text. */
  split(text: string, delta: Record<string, unknown>): { thought: string; text: string }
  /** Returns a mark that was never completed. */
  end(): string
}

const opening = '<thought>'
const closing = '</thought>'

export function thoughtMarks(): ThoughtMarks {
  let state: 'answer' | 'opening' | 'thought' = 'answer'
  // Either mark may be split across two deltas.
  let held = ''
  return {
    split(piece, delta) {
      const isFlagged = delta['extra_content'] !== undefined && isThought(delta)
      if (state === 'answer' && !isFlagged) return { thought: '', text: piece }
      if (state === 'answer') state = 'opening'
      let text = held + piece
      held = ''
      if (state === 'opening') {
        if (text.length < opening.length && opening.startsWith(text)) {
          held = text
          return { thought: '', text: '' }
        }
        state = 'thought'
        if (text.startsWith(opening)) text = text.slice(opening.length)
      }
      const end = text.indexOf(closing)
      if (end >= 0) {
        state = 'answer'
        return { thought: text.slice(0, end), text: text.slice(end + closing.length) }
      }
      const cut = text.length - markedEnd(text)
      if (!isFlagged && cut > 0) {
        state = 'answer'
        return { thought: '', text }
      }
      held = text.slice(cut)
      return { thought: text.slice(0, cut), text: '' }
    },
    end() {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** How many characters at the end of a text could begin the closing mark. */
function markedEnd(text: string): number {
  let length = Math.min(text.length, closing.length - 1)
  while (length > 0 && !text.endsWith(closing.slice(0, length))) length -= 1
  return length
}

function isThought(delta: Record<string, unknown>): boolean {
  return asObject(asObject(delta['extra_content'])['google'])['thought'] === true
}
