/** The methods of each kind of value. A call never reaches a built-in by a name out of a prompt. */
import { DATE_GETTERS } from '../../syntax/policy.ts'
import type { Meter } from '../values/fuel.ts'
import { keysOf } from '../values/printed.ts'
import {
  isNothing,
  isObject,
  joinItems,
  type ObjectValue,
  ownsMember,
  toNumber,
  toText,
  type Value,
} from '../values/values.ts'
import { LIST_METHODS } from './list-methods.ts'
import type { Method, Methods } from './method.ts'
import { localesOf, TEXT_METHODS } from './text-methods.ts'

const FORMAT_UNITS = 3_000
const DIGITS_UNITS = 5
const MAX_FORMAT_OPTIONS = 40

type FormatArguments = [locales: string | string[] | undefined, options: Record<string, never> | undefined]

/** The arguments of `toLocaleString`, as plain data. */
function formatArguments([locale, options]: readonly Value[], meter: Meter): FormatArguments {
  meter.spend(FORMAT_UNITS)
  const locales = localesOf(locale, meter)
  if (options === undefined || !isObject(options)) return [locales, undefined]
  const keys = keysOf(options, 2, meter).slice(0, MAX_FORMAT_OPTIONS)
  const plain = keys.map((key) => [key, typeof options[key] === 'object' ? toText(options[key], meter) : options[key]])
  return [locales, Object.fromEntries(plain)]
}

function digits(call: (number: number, count: number | undefined) => string): Method<number> {
  return (number, [count], meter) => {
    meter.spend(DIGITS_UNITS)
    return call(number, count === undefined ? undefined : toNumber(count, meter))
  }
}

const NUMBER_METHODS: Methods<number> = {
  toString: digits((number, radix) => number.toString(radix)),
  toFixed: digits((number, count) => number.toFixed(count)),
  toPrecision: digits((number, count) => number.toPrecision(count)),
  toLocaleString: (number, args, meter) => number.toLocaleString(...formatArguments(args, meter)),
  hasOwnProperty: () => false,
}

const BOOLEAN_METHODS: Methods<boolean> = {
  toString: (value) => String(value),
  toLocaleString: (value) => String(value),
  hasOwnProperty: () => false,
}

const DATE_METHODS: Methods<Date> = {
  ...Object.fromEntries(DATE_GETTERS.map((name) => [name, (date: Date) => date[name as 'getTime']()])),
  toISOString: (date) => date.toISOString(),
  toJSON: (date) => date.toJSON(),
  toString: (date) => date.toString(),
  toLocaleString: (date, args, meter) => date.toLocaleString(...formatArguments(args, meter)),
  hasOwnProperty: () => false,
}

const OBJECT_METHODS: Methods<ObjectValue> = {
  toString: () => '[object Object]',
  toLocaleString: () => '[object Object]',
  hasOwnProperty: (object, [key], meter) => ownsMember(object, key, meter),
}

const ALL_LIST_METHODS: Methods<Value[]> = {
  ...LIST_METHODS,
  toLocaleString: (list, args, meter) => {
    meter.spend(list.length)
    const texts = list.map((item) => (isNothing(item) ? '' : callMethod(item, 'toLocaleString', args, meter)))
    return joinItems(texts, ',', meter)
  },
}

/** The methods by the kind of value, for the documentation too. */
export const METHODS_OF = {
  text: TEXT_METHODS,
  number: NUMBER_METHODS,
  boolean: BOOLEAN_METHODS,
  date: DATE_METHODS,
  list: ALL_LIST_METHODS,
  object: OBJECT_METHODS,
} as const

function methodsOf(value: Value): Methods<never> | undefined {
  switch (typeof value) {
    case 'string':
      return METHODS_OF.text
    case 'number':
      return METHODS_OF.number
    case 'boolean':
      return METHODS_OF.boolean
    case 'object':
      if (value === null) return undefined
      if (Array.isArray(value)) return METHODS_OF.list
      return value instanceof Date ? METHODS_OF.date : METHODS_OF.object
    default:
      return undefined
  }
}

/** Returns whether the value has this method. A member of the value itself hides it. */
export function hasMethod(value: Value, name: string): boolean {
  const methods = methodsOf(value)
  if (!methods || !Object.hasOwn(methods, name)) return false
  return typeof value !== 'object' || value === null || !Object.hasOwn(value, name)
}

/** Call it only with a method that the value has. */
export function callMethod(value: Value, name: string, args: readonly Value[], meter: Meter): Value {
  return methodsOf(value)?.[name]?.(value as never, args, meter)
}
