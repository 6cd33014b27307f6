import { defined } from '@stet/template/defined'
import { isJsonObject } from '../../../settings/json-file.ts'
import type { ForeignPrompt } from '../imported-prompt.ts'
import { openAiKeys, splitModel, takeSettings } from '../model-settings.ts'
import { formatMessages } from '../prompt-text.ts'
import { convertHandlebars, partialPrefix } from './handlebars.ts'
import type { FindPartial } from './handlebars-state.ts'

/**
 * Imports a dotprompt (Genkit) file: front matter with `model`, `config`, `input`, `output` and `tools`, and a
 * Handlebars template. A file whose name begins with `_` is a partial. Its prompt's path omits the `_`, because
 * templates name partials without the `_`.
 * Source: google.github.io/dotprompt/reference/frontmatter, …/template and …/picoschema.
 */
export function importDotprompt(
  path: string,
  head: Readonly<Record<string, unknown>>,
  body: string,
  firstLine: number,
  findPartial: FindPartial,
): ForeignPrompt {
  const losses: string[] = []
  const { model, config, input, output, tools, name: title, description, ...rest } = head
  for (const [key, value] of Object.entries(rest)) {
    losses.push(`"${key}" is not supported: ${JSON.stringify(value).slice(0, 200)}`)
  }
  if (typeof title === 'string' && !path.endsWith(title)) losses.push(`The file's name replaced the name "${title}"`)
  const schema = convertPicoschema(isJsonObject(input) ? input['schema'] : undefined, losses)
  const front = {
    ...(typeof model === 'string' && splitModel(model)),
    ...(typeof description === 'string' && { description }),
    ...takeSettings(isJsonObject(config) ? config : {}, openAiKeys, losses),
    parameters: parametersOf(input, schema, losses),
    schema: outputOf(output, losses),
  }
  noteTools(tools, losses)
  const name = partialName(path)
  const isPartial = name !== undefined
  const { messages, ...found } = convertHandlebars(body, { isPartial, firstLine, input: schema, findPartial }, losses)
  if (!isPartial) return { path, front, text: formatMessages(messages), losses, ...found }
  const text = messages.map(({ content }) => content.trim()).join('\n')
  return { path: name, key: partialPrefix + name, front: { parameters: front.parameters }, text, losses, ...found }
}

/** Returns the name of a partial, which templates use, or undefined for the path of a prompt. */
export function partialName(path: string): string | undefined {
  const name = path.replace(/(^|\/)_([^/]*)$/, '$1$2')
  return name === path ? undefined : name
}

function parametersOf(
  input: unknown,
  schema: Record<string, unknown> | undefined,
  losses: string[],
): Record<string, unknown> | undefined {
  if (!isJsonObject(input)) return undefined
  const defaults = isJsonObject(input['default']) ? input['default'] : {}
  const properties = isJsonObject(schema?.['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema?.['required']) ? schema['required'] : []
  const parameters: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(properties), ...Object.keys(defaults)])) {
    const property = isJsonObject(properties[name]) ? properties[name] : {}
    const { type, description, ...others } = property
    for (const [key, value] of Object.entries(others)) {
      const shown = JSON.stringify(value).slice(0, 200)
      losses.push(`The "${key}" of the parameter "${name}" is not supported: ${shown}`)
    }
    parameters[name] = {
      type: typeof type === 'string' && type !== 'string' ? type : 'text',
      ...defined({ description }),
      ...(required.includes(name) && { required: true }),
      ...(Object.hasOwn(defaults, name) && { default: defaults[name] }),
    }
  }
  return Object.keys(parameters).length > 0 ? parameters : undefined
}

function outputOf(output: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (!isJsonObject(output)) return undefined
  const schema = convertPicoschema(output['schema'], losses)
  if (schema && Object.keys(schema).length > 0) return schema
  if (output['format'] !== undefined && output['format'] !== 'text') {
    losses.push(`The output format "${output['format']}" has no schema: describe the format in the prompt`)
  }
  return undefined
}

function noteTools(tools: unknown, losses: string[]): void {
  if (!Array.isArray(tools) || tools.length === 0) return
  losses.push(`The tools ${tools.join(', ')} are defined in code: declare them under "tools" with their parameters`)
}

const scalars = new Set(['string', 'boolean', 'null', 'number', 'integer'])

/**
 * Converts dotprompt's compact schemas to JSON Schema. Keeps full JSON Schema, and adds `type: 'object'` if only
 * `properties` is given.
 * Forms: `name?: type, description`, `name(array, …)`, `name(object, …)`, `name(enum, …)`, `(*)` for further
 * properties.
 * Reports schemas that are defined in code. Source: google.github.io/dotprompt/reference/picoschema.
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
