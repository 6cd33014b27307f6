/**
 * Removes NUL and lone surrogates, which databases cannot store, from text in pieces. Pairs split between pieces
 * survive.
 */
export interface WellFormedText {
  add(piece: string): string
  /** Returns text that was held back. */
  end(): string
}

// With the u flag a surrogate pair is one code point, so only lone surrogates match.
const unstorable = /[\0\p{Surrogate}]/u
const allUnstorable = /[\0\p{Surrogate}]/gu
const replacement = '\uFFFD'

export function wellFormedText(): WellFormedText {
  let held = ''
  return {
    add(piece) {
      if (held === '' && !unstorable.test(piece)) return piece
      const text = held + piece
      held = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : ''
      return text.slice(0, text.length - held.length).replace(allUnstorable, replacement)
    },
    end() {
      const rest = held === '' ? '' : replacement
      held = ''
      return rest
    },
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
