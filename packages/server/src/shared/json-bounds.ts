/** Limits JSON before parsing. 4 MB of brackets parse to 400 MB; 300,000 keys block the event loop for seconds. */

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

// Calling indexOf costs as much as checking this many bytes here. Most keys are shorter.
const shortString = 32

function endOfString(json: Uint8Array, start: number): number {
  for (let place = start; place < start + shortString; place += 1) {
    const byte = json[place]
    if (byte === quote) return place
    if (byte === backslash) place += 1
  }
  return endOfLongString(json, start)
}

function endOfLongString(json: Uint8Array, start: number): number {
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
