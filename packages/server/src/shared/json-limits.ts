/**
 * Limits JSON before parsing: 4 MB of brackets parse to 400 MB, and 300,000 keys block the event loop for seconds. Serializes
 * in pieces, because the complete text would be another copy in memory.
 */
import { maxJsonDepth } from './text-guards.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const arrayStart = 0x5b
const arrayEnd = 0x5d
const objectStart = 0x7b
const objectEnd = 0x7d

export interface JsonBounds {
  depth: number
  /** Array items and object members. An empty array or object adds one. */
  values: number
  /** Different keys as spelled in the text. A key with two spellings counts twice. */
  keys: number
}

/** Limits for a request body, and for a parameter sent as JSON text. The cost after parsing depends on these counts. */
export const inputBounds: JsonBounds = { depth: maxJsonDepth, values: 50_000, keys: 5_000 }

/** Counts while a text arrives, so that reading can stop early. The result is unspecified for invalid JSON. */
export class JsonMeter {
  readonly #bounds: JsonBounds
  #depth = 0
  #values = 0
  #isInString = false
  #isEscaped = false
  /** Object members so far, including repeated keys. */
  members = 0

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
  }

  /** @returns the limit that the text now exceeds, if any. */
  add(json: Uint8Array): 'depth' | 'values' | undefined {
    let place = this.#isInString ? this.#leaveString(json, this.#isEscaped ? 1 : 0) + 1 : 0
    for (; place < json.length; place += 1) {
      switch (json[place]) {
        case arrayStart:
        case objectStart:
          this.#depth += 1
          this.#values += 1
          if (this.#depth > this.#bounds.depth) return 'depth'
          if (this.#values > this.#bounds.values) return 'values'
          break
        case arrayEnd:
        case objectEnd:
          this.#depth -= 1
          break
        case comma:
          this.#values += 1
          if (this.#values > this.#bounds.values) return 'values'
          break
        case colon:
          this.members += 1
          break
        case quote:
          place = this.#leaveString(json, place + 1)
          break
      }
    }
    return undefined
  }

  /** Returns the position of the closing quote. If the part ends inside the string, returns the part's length. */
  #leaveString(json: Uint8Array, start: number): number {
    const end = endOfString(json, start)
    this.#isInString = end >= json.length
    this.#isEscaped = this.#isInString && start <= json.length && trailingEscapes(json, start, json.length) % 2 === 1
    return end
  }
}

export function exceededBound(json: Uint8Array, bounds: JsonBounds): keyof JsonBounds | undefined {
  const meter = new JsonMeter(bounds)
  return meter.add(json) ?? (meter.members > bounds.keys && hasMoreKeys(json, bounds.keys) ? 'keys' : undefined)
}

/** Comparing keys costs ten times as much as counting members. Call this only if there are more than `most` members. */
export function hasMoreKeys(json: Uint8Array, most: number): boolean {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  const keys = new Set<string>()
  let start = 0
  let end = 0
  for (let place = 0; place < json.length; place += 1) {
    if (json[place] === quote) {
      start = place + 1
      end = endOfString(json, start)
      place = end
    } else if (json[place] === colon && keys.add(text.toString('latin1', start, end)).size > most) return true
  }
  return false
}

function endOfString(json: Uint8Array, start: number): number {
  for (let end = json.indexOf(quote, start); end !== -1; end = json.indexOf(quote, end + 1)) {
    if (trailingEscapes(json, start, end) % 2 === 0) return end
  }
  return json.length
}

function trailingEscapes(json: Uint8Array, start: number, end: number): number {
  let escapes = 0
  while (end - escapes > start && json[end - escapes - 1] === backslash) escapes += 1
  return escapes
}

const pieceCharacters = 65_536

/**
 * Deeper values are written in one piece, because each piece passes one generator per level above it. Thousands of
 * levels, which a model may send, would take quadratic time and overflow the stack.
 */
const maxLevels = 64

/** For plain data, the concatenated pieces equal the result of `JSON.stringify`. */
export function* jsonPieces(value: unknown, levels = maxLevels): Generator<string> {
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
