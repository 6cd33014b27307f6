import { isJsonObject } from '../../settings/json-file.ts'

const MAX_DEPTH = 30

interface Scope {
  root: unknown
  /** The current chain of references, for detecting cycles. */
  following: readonly string[]
  depth: number
}

/**
 * Returns the TypeScript type for a JSON Schema on one line. Supports scalars, objects, arrays, tuples, `enum`,
 * `const`, `anyOf`, `oneOf`, `allOf`, `nullable`, type lists and references within the schema. Everything else becomes
 * `unknown`.
 * @example typeOfSchema({ type: 'object', properties: { a: { type: 'integer' } } }) // '{ a?: number }'
 */
export function typeOfSchema(schema: unknown): string {
  return typeOf(schema, { root: schema, following: [], depth: 0 })
}

function typeOf(schema: unknown, scope: Scope): string {
  if (!isJsonObject(schema) || scope.depth > MAX_DEPTH) return 'unknown'
  const inner = { ...scope, depth: scope.depth + 1 }
  const type = bareType(schema, inner)
  return schema['nullable'] === true && type !== 'unknown' ? union([type, 'null']) : type
}

function bareType(schema: Record<string, unknown>, scope: Scope): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema
  if (typeof $ref === 'string') return referencedType($ref, scope)
  if ('const' in schema) return literal(schema['const'])
  if (Array.isArray(values)) return union(values.map(literal))
  const choices = Array.isArray(anyOf) ? anyOf : oneOf
  if (Array.isArray(choices)) return union(choices.map((one) => typeOf(one, scope)))
  if (Array.isArray(allOf)) return intersection(allOf.map((one) => typeOf(one, scope)))
  if (Array.isArray(type)) return union(type.map((one) => typeByName({ ...schema, type: one }, scope)))
  return typeByName(schema, scope)
}

function typeByName(schema: Record<string, unknown>, scope: Scope): string {
  switch (schema['type'] ?? (isJsonObject(schema['properties']) ? 'object' : undefined)) {
    case 'string':
      return 'string'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return arrayType(schema, scope)
    case 'object':
      return objectType(schema, scope)
    default:
      return 'unknown'
  }
}

function arrayType({ items, prefixItems }: Record<string, unknown>, scope: Scope): string {
  if (Array.isArray(prefixItems)) {
    const members = prefixItems.map((one) => typeOf(one, scope))
    if (items !== false) members.push(`...${listOf(typeOf(items, scope))}`)
    return `[${members.join(', ')}]`
  }
  return listOf(typeOf(items, scope))
}

function listOf(type: string): string {
  return /[|&]/.test(type) ? `(${type})[]` : `${type}[]`
}

function objectType({ properties, required, additionalProperties }: Record<string, unknown>, scope: Scope): string {
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) {
    if (additionalProperties === false) return 'Record<string, never>'
    return `Record<string, ${typeOf(additionalProperties, scope)}>`
  }
  const needed = new Set(Array.isArray(required) ? required : [])
  return recordOf(
    Object.entries(properties).map(([name, schema]) => ({
      name,
      isOptional: !needed.has(name),
      type: typeOf(schema, scope),
    })),
  )
}

export interface Property {
  name: string
  isOptional: boolean
  type: string
}

export function recordOf(properties: readonly Property[]): string {
  if (properties.length === 0) return 'Record<string, never>'
  const sorted = [...properties].sort((a, b) => (a.name < b.name ? -1 : 1))
  return `{ ${sorted.map(({ name, isOptional, type }) => `${propertyName(name)}${isOptional ? '?' : ''}: ${type}`).join('; ')} }`
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function referencedType(reference: string, scope: Scope): string {
  if (!reference.startsWith('#') || scope.following.includes(reference)) return 'unknown'
  let target: unknown = scope.root
  for (const part of reference.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  return typeOf(target, { ...scope, following: [...scope.following, reference] })
}

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  return 'unknown'
}

function union(types: readonly string[]): string {
  if (types.length === 0 || types.includes('unknown')) return 'unknown'
  return [...new Set(types)].join(' | ')
}

function intersection(types: readonly string[]): string {
  const known = [...new Set(types)].filter((type) => type !== 'unknown')
  if (known.length === 0) return 'unknown'
  return known.map((type) => (type.includes(' | ') ? `(${type})` : type)).join(' & ')
}
