/** Describes the parameters of a prompt as the arguments of a tool: a JSON Schema with all of them required. */
import type { TemplateScan } from './template-engine.ts'

const schemaTypes: Readonly<Record<string, string>> = {
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  object: 'object',
  array: 'array',
  null: 'null',
}

export function argumentsOf({ config, parameters }: Pick<TemplateScan, 'config' | 'parameters'>): {
  type: 'object'
  [key: string]: unknown
} {
  const declared = isMap(config['parameters']) ? config['parameters'] : {}
  const names = [...new Set([...Object.keys(declared), ...parameters])]
  const properties = Object.fromEntries(names.map((name) => [name, propertyOf(declared[name])]))
  return { type: 'object', properties, required: names, additionalProperties: false }
}

// Texts, images and files all travel as text: the latter two as URL, data URL or base64.
function propertyOf(declaration: unknown): Record<string, unknown> {
  const keys = isMap(declaration) ? declaration : { type: declaration }
  const { type, description } = keys
  const known = typeof type === 'string' && Object.hasOwn(schemaTypes, type) ? schemaTypes[type] : undefined
  return { type: known ?? 'string', ...(typeof description === 'string' ? { description } : {}) }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
