/** A state names parameters and their parts instead of storing them, because every step receives the same ones. */
import type { Meter } from '../values/fuel.ts'
import { isObject, type ObjectValue, type Value } from '../values/values.ts'

const ITEMS_PER_UNIT = 4
const KEY_UNITS = 3

/** The name of a parameter, and the keys that lead to a part of it. */
export type PartPath = readonly string[]

interface Part {
  key: string
  outer: Part | undefined
}

/** @returns a function that finds the path of a value. It searches the parts once, for the first value that is no whole parameter. */
export function pathsOf(parameters: Readonly<ObjectValue>, meter: Meter): (value: Value) => PartPath | undefined {
  const whole = new Map(Object.entries(parameters).map(([name, value]) => [value, name]))
  let parts: Map<Value, Part> | undefined
  return (value) => {
    const name = whole.get(value)
    if (name !== undefined) return [name]
    parts ??= partsOf(parameters, meter)
    return pathOf(parts.get(value), meter)
  }
}

function pathOf(found: Part | undefined, meter: Meter): PartPath | undefined {
  const path: string[] = []
  for (let part = found; part; part = part.outer) {
    meter.spend(1)
    path.push(part.key)
  }
  return found && path.reverse()
}

function partsOf(parameters: Readonly<ObjectValue>, meter: Meter): Map<Value, Part> {
  const parts = new Map<Value, Part>()
  const open: { owner: Value; part: Part | undefined }[] = [{ owner: parameters, part: undefined }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { owner, part: outer } = next
    const note = (value: Value, key: string | number): void => {
      if (typeof value !== 'object' || value === null || parts.has(value)) return
      meter.spend(KEY_UNITS)
      const part = { key: String(key), outer }
      parts.set(value, part)
      open.push({ owner: value, part })
    }
    if (Array.isArray(owner)) {
      meter.spend(1 + Math.ceil(owner.length / ITEMS_PER_UNIT))
      for (const [index, item] of owner.entries()) note(item, index)
    } else if (isObject(owner)) {
      for (const key of Object.keys(owner)) {
        meter.spend(KEY_UNITS)
        note(owner[key], key)
      }
    }
  }
  return parts
}

export function partAt(parameters: Readonly<ObjectValue>, path: PartPath, meter: Meter): Value {
  meter.spend(path.length)
  let value: Value = parameters
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as ObjectValue)[key]
  }
  return value
}
