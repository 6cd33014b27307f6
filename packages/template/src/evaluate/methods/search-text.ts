import type { Meter } from '../values/fuel.ts'

/** V8's search takes quadratic time in the length of the pattern, so longer ones are searched here. */
const MAX_BUILT_IN_PATTERN = 32

export function searchText(text: string, pattern: string, from: number, meter: Meter): number {
  if (pattern.length <= MAX_BUILT_IN_PATTERN) {
    spendSearch(text.length - from, pattern, meter)
    return text.indexOf(pattern, from)
  }
  for (const at of longPlaces(text, pattern, from, meter)) return at
  return -1
}

/** Yields the places of a pattern that do not overlap. */
export function* textPlaces(text: string, pattern: string, meter: Meter): Generator<number> {
  if (pattern.length > MAX_BUILT_IN_PATTERN) {
    yield* longPlaces(text, pattern, 0, meter)
    return
  }
  spendSearch(text.length, pattern, meter)
  const step = Math.max(1, pattern.length)
  for (let at = text.indexOf(pattern); at !== -1 && at <= text.length; ) {
    meter.spend(1)
    yield at
    // An empty pattern would be found at the end again and again.
    at = at + step > text.length ? -1 : text.indexOf(pattern, at + step)
  }
}

function spendSearch(chars: number, pattern: string, meter: Meter): void {
  meter.spend(Math.floor((chars * Math.max(1, Math.ceil(pattern.length / 4))) / 16))
}

/** The algorithm of Knuth, Morris and Pratt. */
function* longPlaces(text: string, pattern: string, from: number, meter: Meter): Generator<number> {
  const size = pattern.length
  if (size > text.length - from) return
  meter.spend(Math.ceil((size + text.length - from) / 4))
  const jumps = jumpsOf(pattern)
  let matched = 0
  for (let at = from; at < text.length; at += 1) {
    matched = afterCharacter(pattern, jumps, matched, text.charCodeAt(at))
    if (matched !== size) continue
    yield at - size + 1
    matched = 0
  }
}

/** For each length of the pattern's start: the length of its longest end that is a start of the pattern too. */
function jumpsOf(pattern: string): Int32Array {
  const jumps = new Int32Array(pattern.length)
  let matched = 0
  // bounded: the search has paid for the pattern
  for (let at = 1; at < pattern.length; at += 1) {
    matched = afterCharacter(pattern, jumps, matched, pattern.charCodeAt(at))
    jumps[at] = matched
  }
  return jumps
}

function afterCharacter(pattern: string, jumps: Int32Array, matched: number, code: number): number {
  let length = matched
  // bounded: all calls of a search together take as many steps as its text has characters
  while (length > 0 && pattern.charCodeAt(length) !== code) length = jumps[length - 1] as number
  return pattern.charCodeAt(length) === code ? length + 1 : length
}
