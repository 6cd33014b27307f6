import type { Meter } from '../values/fuel.ts'
import { keysOf } from '../values/printed.ts'
import { MAX_VALUE_DEPTH, type ObjectValue, setOwn, tooDeep, type Value } from '../values/values.ts'
import { type PartPath, partAt, pathsOf } from './parameter-parts.ts'

const ITEM_UNITS = 3
const KEY_UNITS = 4

/** `n` is a number that JSON does not have, `p` a part of a parameter, `r` an index into the heap, `u` undefined. */
export type StoredValue = null | boolean | number | string | { n: string } | { p: PartPath } | { r: number } | { u: 1 }
type StoredObject = { list: StoredValue[] } | { keys: [key: string, value: StoredValue][] } | { date: string }
export type StoredHeap = StoredObject[]

interface Known {
  index: number
  /** The number of levels in the value. Undefined while the value is being encoded. */
  height: number | undefined
}

/**
 * Encodes values that share one heap.
 * @param unchanged the parameters that every step receives unchanged
 * @throws EvaluationError for a value that is too deep or contains itself
 */
export function encoderOf(unchanged: Readonly<ObjectValue>, meter: Meter) {
  const pathOf = pathsOf(unchanged, meter)
  const heap: StoredHeap = []
  const known = new Map<Value, Known>()
  const encode = (value: Value, depth: number, isOwn = false): StoredValue => {
    if (typeof value === 'string') meter.spendText(value.length)
    if (typeof value !== 'object' || value === null) return storedPrimitive(value)
    const found = known.get(value)
    if (found) {
      if (found.height === undefined || depth + found.height > MAX_VALUE_DEPTH) throw tooDeep(MAX_VALUE_DEPTH)
      return { r: found.index }
    }
    const path = isOwn ? undefined : pathOf(value)
    if (path) return { p: path }
    if (depth >= MAX_VALUE_DEPTH) throw tooDeep(MAX_VALUE_DEPTH)
    return { r: encodeNew(value, depth, isOwn) }
  }
  const encodeNew = (value: Date | Value[] | ObjectValue, depth: number, isOwn: boolean): number => {
    const entry: Known = { index: heap.length, height: undefined }
    known.set(value, entry)
    if (value instanceof Date) heap.push({ date: value.toISOString() })
    else if (Array.isArray(value)) {
      meter.spend(1 + value.length * ITEM_UNITS)
      const list: StoredValue[] = []
      heap.push({ list })
      for (const item of value) list.push(encode(item, depth + 1, isOwn))
    } else {
      const keys: [string, StoredValue][] = []
      heap.push({ keys })
      for (const key of keysOf(value, KEY_UNITS, meter)) keys.push([key, encode(value[key], depth + 1, isOwn)])
    }
    entry.height = heightOf(value, known)
    return entry.index
  }
  return {
    heap,
    encode: (value: Value) => encode(value, 1),
    /** For a value that shares nothing with the parameters, so that their parts are not searched. */
    encodeCopy: (value: Value) => encode(value, 1, true),
  }
}

function heightOf(value: Date | Value[] | ObjectValue, known: ReadonlyMap<Value, Known>): number {
  const children = value instanceof Date ? [] : Object.values(value)
  return 1 + children.reduce<number>((most, child) => Math.max(most, known.get(child)?.height ?? 0), 0)
}

function storedPrimitive(value: Exclude<Value, object> | null): StoredValue {
  if (value === undefined) return { u: 1 }
  if (typeof value !== 'number') return value
  if (Object.is(value, -0)) return { n: '-0' }
  return Number.isFinite(value) ? value : { n: String(value) }
}

/** Returns a function that decodes values of the heap. */
export function decodeValues(
  heap: StoredHeap,
  parameters: Readonly<ObjectValue>,
  meter: Meter,
): (stored: StoredValue) => Value {
  meter.spend(heap.length)
  const made = heap.map((entry): Value => ('date' in entry ? new Date(entry.date) : 'list' in entry ? [] : {}))
  const decode = (stored: StoredValue): Value => {
    if (typeof stored !== 'object' || stored === null) return stored
    if ('r' in stored) return made[stored.r]
    if ('p' in stored) return partAt(parameters, stored.p, meter)
    return 'n' in stored ? Number(stored.n) : undefined
  }
  for (const [index, entry] of heap.entries()) {
    const value = made[index]
    if ('list' in entry) {
      meter.spend(entry.list.length * ITEM_UNITS)
      for (const item of entry.list) (value as Value[]).push(decode(item))
    } else if ('keys' in entry) {
      meter.spend(entry.keys.length * KEY_UNITS)
      for (const [key, item] of entry.keys) setOwn(value as ObjectValue, key, decode(item))
    }
  }
  return decode
}
