/**
 * The values of prompts are plain data: no function, prototype or symbol. Only own members are read, so that no name
 * reaches a built-in.
 */
import { EvaluationError, MAX_TEXT_CHARS, type Meter } from './fuel.ts'

export type Primitive = undefined | null | boolean | number | string
export type Value = Primitive | Date | Value[] | ObjectValue
export interface ObjectValue {
  [key: string]: Value
}

/** The depth of values that leave an evaluation. */
export const MAX_VALUE_DEPTH = 64
/** The depth of values that are printed or joined. */
export const MAX_PRINT_DEPTH = 1_000

const INDEX = /^(?:0|[1-9]\d{0,9})$/

export function isObject(value: Value): value is ObjectValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

export function isNothing(value: Value): value is undefined | null {
  return value === undefined || value === null
}

export function setOwn(object: ObjectValue, key: string, value: Value): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

export function tooDeep(depth: number): EvaluationError {
  return new EvaluationError('limit-exceeded', `Values are nested deeper than ${depth} levels`)
}

/** @throws EvaluationError for a member of undefined or null */
export function readMember(value: Value, key: Value, meter: Meter): Value {
  if (isNothing(value)) {
    const name = toText(key, meter).slice(0, 100)
    throw new EvaluationError('variable-not-defined', `Cannot read properties of ${value} (reading '${name}')`)
  }
  if (typeof value === 'string') return readText(value, key, meter)
  if (typeof value !== 'object' || value instanceof Date) return undefined
  // Avoids a text for each index.
  if (Array.isArray(value) && typeof key === 'number') return value[key]
  const name = toKey(key, meter)
  return Object.hasOwn(value, name) ? (value as ObjectValue)[name] : undefined
}

/** Reading a member flattens a joined name. */
function toKey(key: Value, meter: Meter): string {
  const name = toText(key, meter)
  meter.spendText(name.length)
  return name
}

function readText(text: string, key: Value, meter: Meter): Value {
  const name = toKey(key, meter)
  if (name === 'length') return text.length
  if (!INDEX.test(name)) return undefined
  // A joined text is flattened when a character is read.
  meter.spendText(text.length)
  return text[Number(name)]
}

export function ownsMember(value: Value, key: Value, meter: Meter): boolean {
  const name = toKey(key, meter)
  if (typeof value === 'string') return name === 'length' || (INDEX.test(name) && Number(name) < value.length)
  return typeof value === 'object' && value !== null && !(value instanceof Date) && Object.hasOwn(value, name)
}

/** Sets a member of an object, or shortens a list. */
export function writeMember(owner: Value, name: string, value: Value): void {
  if (isObject(owner)) {
    setOwn(owner, name, value)
    return
  }
  const shortens = Array.isArray(owner) && name === 'length' && Number.isInteger(value)
  if (shortens && (value as number) >= 0 && (value as number) <= owner.length) owner.length = value as number
  else throw new EvaluationError('variable-not-defined', `Cannot set the member '${name}' of ${kindOf(owner)}`)
}

function kindOf(value: Value): string {
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Date) return 'a date'
  return isNothing(value) ? String(value) : `a ${typeof value}`
}

/** Never calls a method of prompt data. */
export function toText(value: Value, meter: Meter): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return joinItems(value, ',', meter)
  return isObject(value) ? '[object Object]' : String(value)
}

export function toPrimitive(value: Value, meter: Meter, wanted: 'text' | 'number' = 'text'): Primitive {
  if (typeof value !== 'object' || value === null) return value
  return value instanceof Date && wanted === 'number' ? value.getTime() : toText(value, meter)
}

export function toNumber(value: Value, meter: Meter): number {
  const primitive = toPrimitive(value, meter, 'number')
  if (typeof primitive === 'string') meter.spendText(primitive.length)
  return Number(primitive)
}

/** Joins as `join` does: undefined, null and a list inside itself are empty. */
export function joinItems(
  list: readonly Value[],
  separator: string,
  meter: Meter,
  around: readonly (readonly Value[])[] = [],
): string {
  meter.spend(1 + list.length + around.length)
  if (around.includes(list)) return ''
  if (around.length > MAX_PRINT_DEPTH) throw tooDeep(MAX_PRINT_DEPTH)
  const lists = [...around, list]
  const pieces: string[] = []
  let chars = 0
  for (const item of list) {
    if (typeof item !== 'string') meter.spend(4)
    const piece = isNothing(item) ? '' : Array.isArray(item) ? joinItems(item, ',', meter, lists) : toText(item, meter)
    chars += piece.length + separator.length
    meter.spendText(piece.length + separator.length)
    // The last separator is not part of the text.
    if (chars - separator.length > MAX_TEXT_CHARS) meter.spendText(chars)
    pieces.push(piece)
  }
  return pieces.join(separator)
}
