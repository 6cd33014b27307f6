import { isJsonObject } from '../../../settings/json-file.ts'

const scalars = new Set(['string', 'boolean', 'null', 'number', 'integer'])

/**
 * The compact schemas of dotprompt as JSON Schema; full JSON Schema passes unchanged.
 * `name?: type, description`, `name(array, …)`, `name(object, …)`, `name(enum, …)`, `(*)` for further properties.
 * Source: google.github.io/dotprompt/reference/picoschema. Names of schemas defined in code are reported.
 */
export function convertPicoschema(schema: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (schema === undefined || schema === null) return undefined
  if (typeof schema === 'string') return scalarSchema(schema, losses)
  if (!isJsonObject(schema)) return undefined
  if (typeof schema['type'] === 'string' && [...scalars, 'object', 'array'].includes(schema['type'])) return schema
  if (isJsonObject(schema['properties'])) return { type: 'object', ...schema }
  return objectSchema(schema, losses)
}

function scalarSchema(text: string, losses: string[]): Record<string, unknown> {
  const [type = '', ...rest] = text.split(',')
  const description = rest.join(',').trim()
  const described = description === '' ? {} : { description }
  if (scalars.has(type.trim())) return { type: type.trim(), ...described }
  if (type.trim() !== 'any') losses.push(`The schema "${type.trim()}" is defined elsewhere and was dropped`)
  return described
}

function objectSchema(shape: Record<string, unknown>, losses: string[]): Record<string, unknown> {
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  let additionalProperties: unknown = false
  for (const [key, value] of Object.entries(shape)) {
    const match = /^([^(?]*)(\?)?(?:\(([^,)]*)(?:,\s*([^)]*))?\))?(\?)?$/.exec(key)
    const [, name = key, before, kind, description, after] = match ?? []
    if (name === '' && kind === '*') {
      additionalProperties = convertPicoschema(value, losses) ?? true
      continue
    }
    properties[name] = { ...propertySchema(kind, value, losses), ...(description && { description }) }
    if (!before && !after) required.push(name)
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties }
}

function propertySchema(kind: string | undefined, value: unknown, losses: string[]): Record<string, unknown> {
  if (kind === 'array') return { type: 'array', items: convertPicoschema(value, losses) ?? {} }
  if (kind === 'enum' && Array.isArray(value)) return { enum: value }
  return convertPicoschema(value, losses) ?? {}
}
