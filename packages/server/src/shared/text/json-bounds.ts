/** Measures JSON before it is parsed: 4 MB of brackets parse to 400 MB, and 300,000 keys block the event loop for seconds. */

import { maxJsonDepth } from '../text-guard.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const arrayStart = 0x5b
const arrayEnd = 0x5d
const objectStart = 0x7b
const objectEnd = 0x7d

export interface JsonBounds {
  /** Levels of arrays and objects in one another. */
  depth: number
  /** Array items and object members; an empty array or object counts one more. */
  values: number
  /** Different keys of all objects together. */
  keys: number
}

/** Of a body, and of a parameter that is sent as JSON text: the work after parsing grows with these, not with the bytes. */
export const inputBounds: JsonBounds = { depth: maxJsonDepth, values: 50_000, keys: 5_000 }

/** The bound that the text exceeds, if any. The result is unspecified for invalid JSON. */
export function exceededBound(json: Uint8Array, bounds: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0
  let values = 0
  let members = 0
  for (let place = 0; place < json.length; place += 1) {
    switch (json[place]) {
      case arrayStart:
      case objectStart:
        depth += 1
        values += 1
        if (depth > bounds.depth) return 'depth'
        if (values > bounds.values) return 'values'
        break
      case arrayEnd:
      case objectEnd:
        depth -= 1
        break
      case comma:
        values += 1
        if (values > bounds.values) return 'values'
        break
      case colon:
        members += 1
        break
      case quote:
        place = endOfString(json, place + 1)
        break
    }
  }
  // Telling keys apart costs ten times as much as counting them.
  return members > bounds.keys && hasMoreKeys(json, bounds.keys) ? 'keys' : undefined
}

function hasMoreKeys(json: Uint8Array, most: number): boolean {
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

// A call of indexOf costs as much as looking at so many bytes here; most keys are shorter.
const shortString = 32

/** The place of the closing quote; the end of the text where there is none. */
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
    let escapes = 0
    while (end - escapes > start && json[end - escapes - 1] === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return json.length
}
