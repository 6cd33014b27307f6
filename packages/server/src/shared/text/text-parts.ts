/** Long texts in parts: whole, each step of handing one on would stand in memory beside the others. */

/** Where a part of at most `length` characters ends, or one more: a pair of surrogates is never parted. */
export function endOfPart(text: string, start: number, length: number): number {
  const end = start + length
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}

export function* textParts(text: string, length: number): Generator<string> {
  if (text.length <= length) return yield text
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = endOfPart(text, start, length)
    yield text.slice(start, end)
  }
}

/** Pieces that may be tiny or huge as texts of about so many characters: each of them has a price of its own where it goes. */
export function* evenTexts(pieces: Iterable<string>, characters: number): Generator<string> {
  let waiting: string[] = []
  let length = 0
  for (const piece of pieces) {
    for (const part of textParts(piece, characters)) {
      waiting.push(part)
      length += part.length
      if (length < characters) continue
      yield waiting.join('')
      waiting = []
      length = 0
    }
  }
  if (length > 0) yield waiting.join('')
}
