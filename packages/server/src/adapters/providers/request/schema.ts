import { isObject, type Json } from '../json.ts'
import { keys } from './settings.ts'

export function schemaName(schema: Json): string {
  const title = typeof schema['title'] === 'string' ? schema['title'].replace(/[^\w-]+/g, '_').slice(0, 64) : ''
  return title === '' ? 'answer' : title
}

export function schemaInstruction(schema: Json): string {
  return `Answer with JSON alone, valid against this JSON schema:\n${JSON.stringify(schema)}`
}

const unstrictKeys = [...keys('allOf oneOf not if patternProperties dependentSchemas dependentRequired prefixItems')]

/**
 * Strict mode requires an object at the root. Every object must be closed, with every key required. Some keywords are
 * not allowed.
 */
export function meetsStrict(schema: Json): boolean {
  return schema['type'] === 'object' && isStrictNode(schema)
}

function isStrictNode(node: unknown): boolean {
  if (!isObject(node) || unstrictKeys.some((key) => key in node)) return false
  if (!['type', 'enum', 'const', 'anyOf', '$ref'].some((key) => key in node)) return false
  const types = Array.isArray(node['type']) ? node['type'] : [node['type']]
  if (types.includes('object') && !isClosed(node)) return false
  if (types.includes('array') && !isStrictNode(node['items'])) return false
  const { anyOf = [], $defs = {}, definitions = {} } = node
  const inner = [...(Array.isArray(anyOf) ? anyOf : [undefined]), ...valuesOf($defs), ...valuesOf(definitions)]
  return inner.every(isStrictNode)
}

function isClosed(node: Json): boolean {
  const { properties, required = [] } = node
  if (!isObject(properties) || !Array.isArray(required) || node['additionalProperties'] !== false) return false
  return Object.entries(properties).every(([key, child]) => required.includes(key) && isStrictNode(child))
}

function valuesOf(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [undefined]
}
