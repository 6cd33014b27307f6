/** Turns what a caller sends into the values that a prompt sees, and describes a prompt's parameters for the wire. */
import { declaredType, readParameters } from '@stet/template/parameters'
import { unprocessable } from '../../shared/app-error.ts'
import { exceededBound, inputBounds } from '../../shared/text/json-bounds.ts'
import { refuseValue } from '../../shared/text-guard.ts'

/** A variable as the wire describes it: strict clients know three types only. */
export type WireParameter = { type: 'text' | 'image' | 'file' } & Record<string, unknown>

/**
 * The values of a run. Undeclared ones pass as they are.
 * @throws AppError `UnprocessableEntityError` naming all that is missing or does not fit.
 */
export function parameterValues(
  config: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const read = readParameters(config, given, parseWithinBounds)
  if ('values' in read) return read.values
  const { message, ...details } = read.problem
  throw unprocessable(message, details)
}

/** Text inside of a body has passed none of the checks that the body itself has. */
function parseWithinBounds(text: string): unknown {
  const exceeded = exceededBound(Buffer.from(text), inputBounds)
  if (exceeded) throw new RangeError(`The JSON text exceeds the bound of its ${exceeded}`)
  const value: unknown = JSON.parse(text)
  const refusal = refuseValue(value)
  if (refusal) throw new TypeError(`The JSON text ${refusal.reason}`)
  return value
}

/** The `parameters` of a document: the declared ones with their keys, then every other free variable. */
export function wireParameters(
  config: Readonly<Record<string, unknown>>,
  freeVariables: readonly string[],
): Record<string, WireParameter> {
  const declared = isObject(config['parameters']) ? config['parameters'] : {}
  const described = Object.entries(declared).map(([name, keys]): [string, WireParameter] => [
    name,
    { ...declaredKeys(keys), type: wireType(declaredType(keys)) },
  ])
  const others = freeVariables
    .filter((name) => !Object.hasOwn(declared, name))
    .map((name): [string, WireParameter] => [name, { type: 'text' }])
  return Object.fromEntries([...described, ...others])
}

/** Clients read `required` as a boolean; one that is something else, as YAML takes `yes` for a text, requires nothing. */
function declaredKeys(keys: unknown): Record<string, unknown> {
  if (!isObject(keys)) return {}
  const { required, ...others } = keys
  return typeof required === 'boolean' ? keys : others
}

function wireType(type: string): WireParameter['type'] {
  return type === 'image' || type === 'file' ? type : 'text'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
