/** The output of an evaluation: printed values, and copies for attributes and answers. */
import type { Meter } from './fuel.ts'
import { isObject, MAX_PRINT_DEPTH, MAX_VALUE_DEPTH, type ObjectValue, setOwn, tooDeep, type Value } from './values.ts'

/** Storage and providers refuse these characters. */
const UNSTORABLE = /\0|\p{Surrogate}/gu

export function wellFormed(text: string): string {
  return text.replace(UNSTORABLE, '\uFFFD')
}

/** The length is measured and paid for before the text is made. */
export function toJson(value: Value, meter: Meter): string {
  meter.spendText(jsonLength(value, meter, 0) * 2)
  return JSON.stringify(value)
}

function jsonLength(value: Value, meter: Meter, depth: number): number {
  if (typeof value === 'string') {
    meter.spendText(value.length)
    return value.length + 2
  }
  if (typeof value !== 'object' || value === null) return 8
  if (value instanceof Date) return 26
  if (depth > MAX_PRINT_DEPTH) throw tooDeep(MAX_PRINT_DEPTH)
  let length = 2
  if (Array.isArray(value)) {
    meter.spend(1 + value.length)
    for (const item of value) length += 1 + jsonLength(item, meter, depth + 1)
    return length
  }
  const keys = keysOf(value, 2, meter)
  for (const key of keys) length += key.length + 4 + jsonLength(value[key], meter, depth + 1)
  return length
}

/** Lists the keys of an object. Pays `units` for each. */
export function keysOf(value: object, units: number, meter: Meter): string[] {
  const keys = Object.keys(value)
  meter.spend(1 + keys.length * units)
  return keys
}

/** Copies a value, so that the prompt cannot change the original. */
export function copied(value: Value, meter: Meter, depth = 0): Value {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth >= MAX_VALUE_DEPTH) throw tooDeep(MAX_VALUE_DEPTH)
  if (Array.isArray(value)) {
    meter.spend(1 + value.length)
    return value.map((item) => copied(item, meter, depth + 1))
  }
  const copy: ObjectValue = {}
  for (const key of keysOf(value, 5, meter)) setOwn(copy, key, copied(value[key], meter, depth + 1))
  return copy
}

/**
 * Copies a value that leaves the evaluation, as JSON would: without undefined members and with dates as text. The dates
 * of attributes themselves stay, because some attributes are converted to text.
 */
export function copiedWellFormed(value: Value, meter: Meter, depth = 0): Value {
  if (typeof value === 'string') {
    meter.spendText(value.length)
    return wellFormed(value)
  }
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    return depth > 1 ? jsonValue(value) : value
  }
  if (depth >= MAX_VALUE_DEPTH) throw tooDeep(MAX_VALUE_DEPTH)
  if (Array.isArray(value)) {
    meter.spend(1 + value.length)
    return value.map((item) => copiedWellFormed(item, meter, depth + 1) ?? null)
  }
  const copy: ObjectValue = {}
  for (const key of keysOf(value, 4, meter)) {
    const member = value[key]
    if (member === undefined) continue
    meter.spendText(key.length)
    setOwn(copy, wellFormed(key), copiedWellFormed(member, meter, depth + 1))
  }
  return copy
}

/** Writes dates and numbers that JSON does not have as JSON does. */
export function jsonValue(value: Value): Value {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}

/** Returns the files of a file value, or of a list of only file values. */
export function filesOf(value: Value, meter: Meter): ObjectValue[] | undefined {
  if (isFile(value)) return [value]
  if (!Array.isArray(value) || value.length === 0) return undefined
  meter.spend(value.length)
  return value.every(isFile) ? value : undefined
}

function isFile(value: Value): value is ObjectValue {
  return isObject(value) && Object.hasOwn(value, '__promptlType') && value['__promptlType'] === 'file'
}

/** Removes the common indentation of the lines, and the white space around the text. */
export function withoutIndent(text: string, meter: Meter): string {
  if (!text.includes('\n')) return text.trim()
  const lines = text.split('\n')
  meter.spend(lines.length * 3)
  let indent = Number.POSITIVE_INFINITY
  for (const line of lines) {
    const first = line.search(/\S/)
    if (first !== -1 && first < indent) indent = first
  }
  if (indent === 0 || indent === Number.POSITIVE_INFINITY) return text.trim()
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trim()
}
