/** JSON in pieces, for values with large text. Concatenated, they equal `JSON.stringify` of plain data. */
import { textParts } from './text-parts.ts'

const pieceCharacters = 65_536

/**
 * Deeper values are written whole. Each piece passes one generator per level above it, so a model's JSON of thousands
 * of levels would take quadratic time and overflow the stack.
 */
const mostLevels = 64

export function jsonPieces(value: unknown): Generator<string> {
  return piecesWithin(value, mostLevels)
}

function* piecesWithin(value: unknown, levels: number): Generator<string> {
  if (levels === 0 || !isLarge(value, pieceCharacters)) yield JSON.stringify(value ?? null)
  else if (typeof value === 'string') yield* stringPieces(value)
  else if (Array.isArray(value)) yield* listPieces(value, levels - 1)
  else yield* mapPieces(value as Record<string, unknown>, levels - 1)
}

/** Whether all strings in the value together exceed this many characters. */
export function isLarge(value: unknown, characters: number): boolean {
  return leftOf(value, characters) < 0
}

/** Of all texts in it together. */
export function charactersIn(value: unknown): number {
  return Number.MAX_SAFE_INTEGER - leftOf(value, Number.MAX_SAFE_INTEGER)
}

function leftOf(value: unknown, characters: number): number {
  if (typeof value === 'string') return characters - value.length
  if (typeof value !== 'object' || value === null) return characters
  let left = characters
  for (const item of Object.values(value)) {
    left = leftOf(item, left)
    if (left < 0) break
  }
  return left
}

function* stringPieces(text: string): Generator<string> {
  yield '"'
  for (const part of textParts(text, pieceCharacters)) yield JSON.stringify(part).slice(1, -1)
  yield '"'
}

function* listPieces(items: readonly unknown[], levels: number): Generator<string> {
  for (const [place, item] of items.entries()) {
    yield place === 0 ? '[' : ','
    yield* piecesWithin(item, levels)
  }
  yield ']'
}

function* mapPieces(values: Record<string, unknown>, levels: number): Generator<string> {
  let mark = '{'
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue
    yield `${mark}${JSON.stringify(key)}:`
    yield* piecesWithin(value, levels)
    mark = ','
  }
  yield '}'
}
