/** Splits long texts, because each processing step of a whole text would hold another copy in memory. */

/** The end of a part of at most `length` characters, plus one rather than splitting a surrogate pair. */
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

/** Re-chunks to about `characters` each, because every downstream write has a fixed cost. */
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
