/** Measures values and serializes them in pieces, because the complete JSON would be another copy in memory. */

const pieceCharacters = 65_536

/**
 * Deeper values are written in one piece, because each piece passes one generator per level above it. Thousands of
 * levels, which a model may send, would take quadratic time and overflow the stack.
 */
const mostLevels = 64

/** For plain data, the concatenated pieces equal the result of `JSON.stringify`. */
export function* jsonPieces(value: unknown, levels = mostLevels): Generator<string> {
  const isLarge = levels > 0 && charactersIn(value, pieceCharacters) > pieceCharacters
  if (!isLarge) yield JSON.stringify(value ?? null)
  else if (typeof value === 'string') yield* stringPieces(value)
  else if (Array.isArray(value)) yield* listPieces(value, levels - 1)
  else yield* mapPieces(value as Record<string, unknown>, levels - 1)
}

/**
 * Counts the characters of all string values. Stops once the count exceeds `most`. Not recursive: a model may send JSON
 * with thousands of levels, and a stack overflow in a background task would end the process.
 */
export function charactersIn(value: unknown, most = Number.MAX_SAFE_INTEGER): number {
  const left = [value]
  let characters = 0
  while (left.length > 0 && characters <= most) {
    const item = left.pop()
    if (typeof item === 'string') characters += item.length
    else if (typeof item === 'object' && item !== null) for (const inner of Object.values(item)) left.push(inner)
  }
  return characters
}

function* stringPieces(text: string): Generator<string> {
  yield '"'
  for (const part of textParts(text, pieceCharacters)) yield JSON.stringify(part).slice(1, -1)
  yield '"'
}

function* listPieces(items: readonly unknown[], levels: number): Generator<string> {
  for (const [place, item] of items.entries()) {
    yield place === 0 ? '[' : ','
    yield* jsonPieces(item, levels)
  }
  yield ']'
}

function* mapPieces(values: Record<string, unknown>, levels: number): Generator<string> {
  let mark = '{'
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue
    yield `${mark}${JSON.stringify(key)}:`
    yield* jsonPieces(value, levels)
    mark = ','
  }
  yield '}'
}

/** Returns the end of a part of at most `length` characters, or of one more to keep a surrogate pair together. */
export function endOfPart(text: string, start: number, length: number): number {
  const end = start + length
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}

function* textParts(text: string, length: number): Generator<string> {
  if (text.length <= length) return yield text
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = endOfPart(text, start, length)
    yield text.slice(start, end)
  }
}

/** Re-chunks to about `characters` each, because every downstream write has a fixed cost. */
export function* evenTexts(pieces: Iterable<string>, characters: number): Generator<string> {
  let waiting = ''
  for (const piece of pieces) {
    for (const part of textParts(piece, characters)) {
      waiting += part
      if (waiting.length < characters) continue
      yield waiting
      waiting = ''
    }
  }
  if (waiting !== '') yield waiting
}

/** Estimates the memory of a value in bytes. The estimate for strings is an upper bound: two bytes per character. */
export function heldBytes(value: unknown): number {
  const left = [value]
  let bytes = 0
  while (left.length > 0) {
    const item = left.pop()
    if (typeof item === 'string') bytes += bytesPerString + 2 * item.length
    else if (item instanceof Uint8Array) bytes += item.length
    else if (typeof item !== 'object' || item === null) bytes += bytesPerValue
    else if (Array.isArray(item)) {
      bytes += bytesPerObject + bytesPerValue * item.length
      for (const inner of item) left.push(inner)
    } else {
      bytes += bytesPerObject
      for (const [key, inner] of Object.entries(item)) {
        bytes += bytesPerValue + key.length
        left.push(inner)
      }
    }
  }
  return bytes
}

const bytesPerValue = 8
const bytesPerString = 16
const bytesPerObject = 32
