import type { Meter } from '../values/fuel.ts'
import { concatenated } from '../values/operators.ts'
import { ownsMember, toNumber, toText, type Value } from '../values/values.ts'
import type { Methods } from './method.ts'
import { replaceText } from './replace-text.ts'
import { searchText, textPlaces } from './search-text.ts'

const MAX_LOCALES = 20
const MAX_LOCALE_CHARS = 150
const CASE_UNITS = 100
const LOCALE_UNITS = 2_000

function numberOr<T>(value: Value, other: T, meter: Meter): number | T {
  return value === undefined ? other : toNumber(value, meter)
}

/** Wraps a built-in method, which may flatten its text. */
function flat(call: (text: string, args: readonly Value[], meter: Meter) => Value) {
  return (text: string, args: readonly Value[], meter: Meter): Value => {
    meter.spendText(text.length)
    return call(text, args, meter)
  }
}

export const TEXT_METHODS: Methods<string> = {
  trim: flat((text) => text.trim()),
  trimStart: flat((text) => text.trimStart()),
  trimEnd: flat((text) => text.trimEnd()),
  toUpperCase: flat((text) => text.toUpperCase()),
  toLowerCase: flat((text) => text.toLowerCase()),
  toLocaleUpperCase: (text, [locale], meter) => {
    meter.spend(CASE_UNITS + text.length)
    return text.toLocaleUpperCase(localesOf(locale, meter))
  },
  toLocaleLowerCase: (text, [locale], meter) => {
    meter.spend(CASE_UNITS + text.length)
    return text.toLocaleLowerCase(localesOf(locale, meter))
  },
  includes: (text, [wanted, from], meter) =>
    searchText(text, toText(wanted, meter), position(from, text, meter), meter) !== -1,
  indexOf: (text, [wanted, from], meter) => searchText(text, toText(wanted, meter), position(from, text, meter), meter),
  lastIndexOf: (text, [wanted, from], meter) => {
    const pattern = toText(wanted, meter)
    const before = toNumber(from, meter)
    return lastPlace(text, pattern, Number.isNaN(before) ? text.length : clamped(before, text.length), meter)
  },
  startsWith: flat((text, [start, from], meter) => text.startsWith(toText(start, meter), toNumber(from, meter))),
  endsWith: flat((text, [end, until], meter) => text.endsWith(toText(end, meter), numberOr(until, undefined, meter))),
  slice: flat((text, [start, end], meter) => text.slice(toNumber(start, meter), numberOr(end, undefined, meter))),
  substring: flat((text, [start, end], meter) =>
    text.substring(toNumber(start, meter), numberOr(end, undefined, meter)),
  ),
  substr: flat((text, [start, length], meter) =>
    text.substr(toNumber(start, meter), numberOr(length, undefined, meter)),
  ),
  charAt: flat((text, [index], meter) => text.charAt(toNumber(index, meter))),
  at: flat((text, [index], meter) => text.at(toNumber(index, meter))),
  concat: (text, args, meter) => {
    let joined = text
    for (const each of args) joined = concatenated(joined, toText(each, meter), meter)
    return joined
  },
  split: flat(split),
  replace: flat((text, args, meter) => replaceText(text, args, meter, false)),
  replaceAll: flat((text, args, meter) => replaceText(text, args, meter, true)),
  toString: (text) => text,
  toLocaleString: (text) => text,
  hasOwnProperty: (text, [key], meter) => ownsMember(text, key, meter),
}

export function localesOf(value: Value, meter: Meter): string | string[] | undefined {
  if (value === undefined) return undefined
  meter.spend(LOCALE_UNITS)
  if (!Array.isArray(value)) return localeOf(value, meter)
  return value.slice(0, MAX_LOCALES).map((item) => localeOf(item, meter))
}

/** The built-in check of a locale takes quadratic time. */
function localeOf(value: Value, meter: Meter): string {
  const locale = toText(value, meter)
  if (locale.length > MAX_LOCALE_CHARS) throw new RangeError('Incorrect locale information provided')
  return locale
}

function clamped(value: number, most: number): number {
  return Math.min(Math.max(Math.trunc(value) || 0, 0), most)
}

function position(value: Value, text: string, meter: Meter): number {
  return clamped(toNumber(value, meter), text.length)
}

/** Searches backwards by searching the reversed text, because the built-in search is quadratic in a long pattern. */
function lastPlace(text: string, pattern: string, before: number, meter: Meter): number {
  const last = Math.min(before, text.length - pattern.length)
  if (last < 0) return -1
  const place = searchText(reversed(text.slice(0, last + pattern.length), meter), reversed(pattern, meter), 0, meter)
  return place === -1 ? -1 : last - place
}

function reversed(text: string, meter: Meter): string {
  meter.spend(text.length)
  return text.split('').reverse().join('')
}

function split(text: string, [by, most]: readonly Value[], meter: Meter): Value[] {
  const limit = most === undefined ? 0xffffffff : toNumber(most, meter) >>> 0
  const separator = by === undefined ? undefined : toText(by, meter)
  if (limit === 0) return []
  if (separator === undefined) return [text]
  if (separator === '') {
    meter.spend(Math.min(text.length, limit) * 2)
    return text.split('', limit)
  }
  const pieces: Value[] = []
  let done = 0
  for (const at of textPlaces(text, separator, meter)) {
    meter.spend(4)
    pieces.push(text.slice(done, at))
    if (pieces.length === limit) return pieces
    done = at + separator.length
  }
  pieces.push(text.slice(done))
  return pieces
}
