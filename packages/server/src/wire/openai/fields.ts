/** Reads fields of a request body. `null` counts as absent. A wrong type is refused with the path of the field. */
import { isObject } from '@stet/template/parameters'

export type Fields = Readonly<Record<string, unknown>>

export function objectAt(value: unknown, param: string): Fields {
  if (!isObject(value)) throw invalid(param, 'an object')
  return value
}

export function listAt(value: unknown, param: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(param, 'a list')
  return value
}

export function textAt(value: unknown, param: string): string {
  if (typeof value !== 'string') throw invalid(param, 'a text')
  return value
}

export function numberAt(value: unknown, param: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw invalid(param, 'a number')
  return value
}

export function booleanAt(value: unknown, param: string): boolean {
  if (typeof value !== 'boolean') throw invalid(param, '`true` or `false`')
  return value
}

/** Reads the field with `read`, if it is there. */
export function optional<Value>(
  fields: Fields,
  key: string,
  read: (value: unknown, param: string) => Value,
  prefix = '',
): Value | undefined {
  const value = fields[key]
  return value === undefined || value === null ? undefined : read(value, `${prefix}${key}`)
}

/** A request that this door refuses in its own words. Everything else is refused by the features. */
export class DoorRefusal extends Error {
  readonly status: 400 | 404
  readonly code: string
  /** The path of the field in the body, for example `tools[0].type`. */
  readonly param: string

  constructor(status: 400 | 404, refusal: { code: string; param: string; message: string }) {
    super(refusal.message)
    this.name = 'DoorRefusal'
    this.status = status
    this.code = refusal.code
    this.param = refusal.param
  }
}

export function invalid(param: string, expected: string): DoorRefusal {
  return new DoorRefusal(400, { code: 'invalid_value', param, message: `\`${param}\` must be ${expected}` })
}

export function unsupportedContent(param: string, what: string): DoorRefusal {
  return new DoorRefusal(400, { code: 'unsupported_content', param, message: `${what} is not supported` })
}

/** @param code `unsupported_value`, or a more exact code. */
export function unsupported(param: string, message: string, code = 'unsupported_value'): DoorRefusal {
  return new DoorRefusal(400, { code, param, message })
}
