import type { Meter } from '../values/fuel.ts'
import { isSame } from '../values/operators.ts'
import { joinItems, MAX_PRINT_DEPTH, ownsMember, toNumber, tooDeep, toText, type Value } from '../values/values.ts'
import type { Methods } from './method.ts'

type List = Value[]

export const LIST_METHODS: Methods<List> = {
  includes: (list, [wanted, from], meter) => {
    const start = startOf(list, from, meter)
    return placeOf(list, wanted, start, meter) !== -1 || (Number.isNaN(wanted) && list.slice(start).some(Number.isNaN))
  },
  indexOf: (list, [wanted, from], meter) => placeOf(list, wanted, startOf(list, from, meter), meter),
  lastIndexOf: (list, args, meter) => {
    const [wanted, from] = args
    const start = args.length < 2 ? list.length - 1 : Math.trunc(toNumber(from, meter)) || 0
    meter.spend(list.length)
    let at = start < 0 ? list.length + start : Math.min(start, list.length - 1)
    while (at >= 0 && !isSame(list[at], wanted, meter)) at -= 1
    return Math.max(at, -1)
  },
  at: (list, [index], meter) => list.at(toNumber(index, meter)),
  slice: (list, [start, end], meter) => {
    meter.spend(Math.ceil(list.length / 4))
    return list.slice(toNumber(start, meter), end === undefined ? undefined : toNumber(end, meter))
  },
  concat: (list, args, meter) => {
    const lengths = args.map((each) => (Array.isArray(each) ? each.length : 1))
    meter.spend(Math.ceil(lengths.reduce((sum, length) => sum + length, list.length) / 2))
    return list.concat(...args)
  },
  reverse: (list, _, meter) => {
    meter.spend(Math.ceil(list.length / 4))
    return list.reverse()
  },
  flat: (list, [depth], meter) => {
    const flattened: Value[] = []
    const levels = depth === undefined ? 1 : Math.trunc(toNumber(depth, meter)) || 0
    flatten(list, levels, flattened, meter)
    return flattened
  },
  keys: (list, _, meter) => {
    meter.spend(list.length)
    return [...list.keys()]
  },
  values: (list, _, meter) => {
    meter.spend(Math.ceil(list.length / 4))
    return [...list]
  },
  entries: (list, _, meter) => {
    meter.spend(list.length * 8)
    return [...list.entries()]
  },
  push: (list, args, meter) => {
    meter.spend(args.length)
    return list.push(...args)
  },
  pop: (list) => list.pop(),
  shift: (list, _, meter) => {
    meter.spend(Math.ceil(list.length / 64))
    return list.shift()
  },
  unshift: (list, args, meter) => {
    meter.spend(args.length + Math.ceil(list.length / 16))
    return list.unshift(...args)
  },
  join: (list, [separator], meter) => joinItems(list, separator === undefined ? ',' : toText(separator, meter), meter),
  toString: (list, _, meter) => joinItems(list, ',', meter),
  hasOwnProperty: (list, [key], meter) => ownsMember(list, key, meter),
}

function startOf(list: List, from: Value, meter: Meter): number {
  const start = Math.trunc(toNumber(from, meter)) || 0
  return start < 0 ? Math.max(0, list.length + start) : Math.min(start, list.length)
}

function placeOf(list: List, wanted: Value, start: number, meter: Meter): number {
  meter.spend(list.length - start)
  for (let at = start; at < list.length; at += 1) if (isSame(list[at], wanted, meter)) return at
  return -1
}

function flatten(list: List, levels: number, into: List, meter: Meter, depth = 0): void {
  if (depth > MAX_PRINT_DEPTH) throw tooDeep(MAX_PRINT_DEPTH)
  meter.spend(1 + list.length)
  for (const item of list) {
    if (Array.isArray(item) && levels >= 1) flatten(item, levels - 1, into, meter, depth + 1)
    else into.push(item)
  }
}
