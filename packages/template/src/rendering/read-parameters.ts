/** Converts a caller's parameters to prompt values. Strings stay strings unless their declared type converts them. */
import { fileValue } from './file-value.ts'

interface Declaration {
  type: string
  required: boolean
  default: unknown
}

/** Throws for invalid JSON. A server's parser also throws for text that exceeds its limits. */
type ParseJson = (text: string) => unknown

interface Reading {
  expected: string
  read(value: unknown, parse: ParseJson): unknown
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Only these declared types convert their values. Values of other types pass through unchanged. */
export const readings: Readonly<Record<string, Reading>> = {
  number: { expected: 'a number', read: readNumber },
  integer: {
    expected: 'an integer',
    read: (value) => (Number.isInteger(readNumber(value)) ? readNumber(value) : undefined),
  },
  boolean: { expected: 'true or false', read: readBoolean },
  object: { expected: 'an object', read: (value, parse) => ofKind(fromJson(value, parse), isObject) },
  array: { expected: 'a list', read: (value, parse) => ofKind(fromJson(value, parse), Array.isArray) },
  null: { expected: 'null', read: (value) => (value === 'null' || value === '' ? null : undefined) },
  image: { expected: 'an image: a URL, a data URL, base64 or {name, url, mimeType, size}', read: readFiles('image') },
  file: { expected: 'a file: a URL, a data URL, base64 or {name, url, mimeType, size}', read: readFiles('file') },
}

export interface ParameterProblem {
  message: string
  missing: string[]
  invalid: { name: string; expected: string }[]
}

/**
 * Returns the values for the run, or the problem. Undeclared parameters pass through unchanged.
 * @param parse parses objects and arrays that are sent as JSON text. A server passes a parser with limits.
 */
export function readParameters(
  config: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
  parse: ParseJson = JSON.parse,
): { values: Record<string, unknown> } | { problem: ParameterProblem } {
  const values = new Map(Object.entries(given))
  const missing: string[] = []
  const invalid: ParameterProblem['invalid'] = []
  const declared = isObject(config['parameters']) ? config['parameters'] : {}
  for (const [name, keys] of Object.entries(declared)) {
    const declaration = declarationOf(keys)
    const reading = Object.hasOwn(readings, declaration.type) ? readings[declaration.type] : undefined
    const sent = values.get(name) ?? declaration.default
    if (sent === undefined || sent === null) {
      if (declaration.required && declaration.type !== 'null') missing.push(name)
      if (reading && declaration.type !== 'null') values.delete(name)
      continue
    }
    const value = reading ? reading.read(sent, parse) : sent
    values.set(name, value)
    if (value === undefined) invalid.push({ name, expected: reading?.expected ?? '' })
  }
  if (missing.length > 0 || invalid.length > 0) {
    return { problem: { message: complaint(missing, invalid), missing, invalid } }
  }
  return { values: Object.fromEntries(values) }
}

export function declaredType(keys: unknown): string {
  return declarationOf(keys).type
}

function declarationOf(keys: unknown): Declaration {
  if (typeof keys === 'string') return { type: keys, required: false, default: undefined }
  if (!isObject(keys)) return { type: 'text', required: false, default: undefined }
  const { type, required } = keys
  return { type: typeof type === 'string' ? type : 'text', required: required === true, default: keys['default'] }
}

function complaint(missing: readonly string[], invalid: Readonly<ParameterProblem['invalid']>): string {
  const lacking = missing.length > 0 ? [`Missing parameters: ${missing.join(', ')}`] : []
  const wrong = invalid.map(({ name, expected }) => `Parameter '${name}' must be ${expected}`)
  return [...lacking, ...wrong].join('. ')
}

function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !DECIMAL.test(value)) return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

function readBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  return value === 'true' || value === 'false' ? value === 'true' : undefined
}

function fromJson(value: unknown, parse: ParseJson): unknown {
  if (typeof value !== 'string') return value
  try {
    return parse(value)
  } catch {
    return undefined
  }
}

function ofKind(value: unknown, isKind: (value: unknown) => boolean): unknown {
  return isKind(value) ? value : undefined
}

function readFiles(type: 'image' | 'file'): (value: unknown) => unknown {
  return (value) => {
    if (!Array.isArray(value)) return fileValue(value, type)
    const files = value.map((item) => fileValue(item, type))
    return files.includes(undefined) ? undefined : files
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
