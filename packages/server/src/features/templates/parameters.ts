import type { ParameterType } from '@stet/contract/vocabulary'
import { declaredType, isObject, readParameters } from '@stet/template/parameters'
import { refuse } from '../../shared/app-error.ts'
import { exceededBound, inputBounds } from '../../shared/json-limits.ts'
import { refuseValue } from '../../shared/text-guards.ts'
import type { TemplateScan } from './template-engine.ts'

/** A parameter on the wire. Legacy clients accept only these three types. */
export type WireParameter = { type: ParameterType } & Record<string, unknown>

/**
 * Converts values to their declared types. Undeclared values stay unchanged.
 * @throws AppError UnprocessableEntityError `missing-parameters` or `invalid-parameters`.
 */
export function parameterValues(
  config: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const read = readParameters(config, given, parseWithinBounds)
  if ('values' in read) return read.values
  const { missing, invalid } = read.problem
  throw refuse(missing.length > 0 ? 'missing-parameters' : 'invalid-parameters', { missing, invalid })
}

export function parameterNames(
  config: Readonly<Record<string, unknown>>,
  freeVariables: readonly string[],
): ReadonlySet<string> {
  const declared = isObject(config['parameters']) ? Object.keys(config['parameters']) : []
  return new Set([...declared, ...freeVariables])
}

/** Applies a body's limits to JSON text inside a string. The body's own checks count such a text as one string. */
function parseWithinBounds(text: string): unknown {
  const exceeded = exceededBound(Buffer.from(text), inputBounds)
  if (exceeded) throw new RangeError(`The JSON text exceeds the bound of its ${exceeded}`)
  const value: unknown = JSON.parse(text)
  const refusal = refuseValue(value)
  if (refusal) throw new TypeError(`The JSON text ${refusal.reason}`)
  return value
}

/** Builds a document's `parameters`: first the declared ones with their keys, then the other free variables. */
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

/** Clients read `required` as a boolean, so other values, such as YAML's text `yes`, are dropped. */
function declaredKeys(keys: unknown): Record<string, unknown> {
  if (!isObject(keys)) return {}
  const { required, ...others } = keys
  return typeof required === 'boolean' ? keys : others
}

function wireType(type: string): ParameterType {
  return type === 'image' || type === 'file' ? type : 'text'
}

const schemaTypes = new Set<unknown>(['number', 'integer', 'boolean', 'object', 'array', 'null'])

export function argumentsOf({ config, parameters }: Pick<TemplateScan, 'config' | 'parameters'>): {
  type: 'object'
  [key: string]: unknown
} {
  const declared = isObject(config['parameters']) ? config['parameters'] : {}
  const names = [...parameterNames(config, parameters)]
  const properties = Object.fromEntries(names.map((name) => [name, propertyOf(declared[name])]))
  return { type: 'object', properties, required: names, additionalProperties: false }
}

// Images and files have type `string`: a URL, a data URL or base64.
function propertyOf(declaration: unknown): Record<string, unknown> {
  const keys = isObject(declaration) ? declaration : { type: declaration }
  const { type, description } = keys
  return { type: schemaTypes.has(type) ? type : 'string', ...(typeof description === 'string' ? { description } : {}) }
}
