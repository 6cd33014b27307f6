/** How a prompt looks to an MCP client: as a tool, as a prompt with arguments, and as messages. */

import { hash } from 'node:crypto'
import type { Message, MessagePart } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { declaredType, isObject } from '@stet/template/parameters'
import type { RunResult } from '../../features/runs/run.ts'

interface Declared {
  config: Readonly<Record<string, unknown>>
  /** All parameters, also those that the front matter does not declare. */
  parameters: Readonly<Record<string, unknown>>
}

export interface ObjectSchema {
  type: 'object'
  [key: string]: unknown
}

const schemaTypes = new Set(['number', 'integer', 'boolean', 'object', 'array'])

/** Images and files are texts: a URL, a data URL or base64. */
export function inputSchema({ config, parameters }: Declared): ObjectSchema {
  const declared = declarations(config)
  const properties = Object.keys(parameters).map((name) => [name, propertySchema(declared[name])])
  const required = Object.keys(parameters).filter((name) => isRequired(declared[name]))
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

/**
 * Returns undefined unless the prompt answers with an object, because MCP allows only objects, and for a schema that some
 * clients refuse: they would then show no tool at all.
 */
export function outputSchema(config: Readonly<Record<string, unknown>>): ObjectSchema | undefined {
  const { schema } = config
  return isObject(schema) && schema['type'] === 'object' && isWidelyTaken(schema)
    ? { ...schema, type: 'object' }
    : undefined
}

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** Whether strict clients compile the schema: known types, objects as properties, Unicode patterns, local references. */
function isWidelyTaken(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isWidelyTaken)
  if (!isObject(schema)) return true
  const { type, properties, required, pattern, $ref } = schema
  if (type !== undefined && ![type].flat().every((each) => typeof each === 'string' && typeNames.has(each)))
    return false
  if (properties !== undefined && !(isObject(properties) && Object.values(properties).every(isObject))) return false
  if (required !== undefined && !(Array.isArray(required) && required.every((each) => typeof each === 'string')))
    return false
  if (typeof pattern === 'string' && !isUnicodePattern(pattern)) return false
  if (typeof $ref === 'string' && !$ref.startsWith('#')) return false
  // Values such as `const` and `default` are no schemas.
  const parts = Object.entries(schema).filter(
    ([key]) => !['const', 'default', 'enum', 'examples', 'properties'].includes(key),
  )
  return [...parts.map(([, each]) => each), ...Object.values(isObject(properties) ? properties : {})].every(
    isWidelyTaken,
  )
}

function isUnicodePattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}

export function promptArguments({ config, parameters }: Declared) {
  const declared = declarations(config)
  return Object.keys(parameters).map((name) => {
    const description = describe(declared[name])
    return { name, ...defined({ description }), required: isRequired(declared[name]) }
  })
}

/** The front matter's `name`, or the last segment of the path. */
export function titleOf({ config, path }: { config: Readonly<Record<string, unknown>>; path: string }): string {
  const { name } = config
  return typeof name === 'string' && name !== '' ? name : path.slice(path.lastIndexOf('/') + 1)
}

export function descriptionOf({ config }: { config: Readonly<Record<string, unknown>> }): string | undefined {
  const { description } = config
  return typeof description === 'string' && description.trim() !== '' ? description : undefined
}

function declarations(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isObject(config['parameters']) ? config['parameters'] : {}
}

function propertySchema(keys: unknown): Record<string, unknown> {
  const type = declaredType(keys)
  const description = describe(keys)
  const fallback = isObject(keys) ? keys['default'] : undefined
  return {
    type: schemaTypes.has(type) ? type : 'string',
    ...defined({ description }),
    ...(fallback !== undefined && fallback !== null && { default: fallback }),
  }
}

function describe(keys: unknown): string | undefined {
  return isObject(keys) && typeof keys['description'] === 'string' ? keys['description'] : undefined
}

function isRequired(keys: unknown): boolean {
  return isObject(keys) && keys['required'] === true
}

/** What a run says about itself beside its answer. */
export function runMeta({ uuid, cost, tokenUsage }: RunResult, version: number | string) {
  return { 'stet/conversationUuid': uuid, 'stet/version': version, 'stet/cost': cost, 'stet/usage': tokenUsage }
}

/** MCP has no instructions, so `system` and `developer` become `user`. Each part is a message of its own. */
export function promptMessages(messages: readonly Message[]) {
  return messages.flatMap(({ role, content }) => {
    const from: 'assistant' | 'user' = role === 'assistant' ? 'assistant' : 'user'
    return content.flatMap((part, at) => contentOf(part, at) ?? []).map((each) => ({ role: from, content: each }))
  })
}

type Content =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'resource_link'; uri: string; name: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } }

/** Returns undefined for a part that MCP does not have. */
function contentOf(part: MessagePart, at: number): Content | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return imageContent(part.image, part.mimeType)
    case 'file':
      return fileContent(part.file, part.mimeType, at)
    default:
      return undefined
  }
}

const dataUrl = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s
/** Clients refuse a whole answer for one text that is no base64. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const address = /^[a-z][a-z\d+.-]*:\/\//i

function imageContent(image: string, mimeType = 'image/png'): Content {
  if (address.test(image)) return { type: 'resource_link', uri: image, name: 'image', mimeType }
  const [, type = mimeType, data = image] = dataUrl.exec(image) ?? []
  if (!base64.test(data)) return { type: 'resource_link', uri: image, name: 'image', mimeType: type }
  return { type: 'image', data, mimeType: type }
}

function fileContent(file: string, mimeType: string, at: number): Content {
  if (address.test(file)) return { type: 'resource_link', uri: file, name: 'file', mimeType }
  const [, type = mimeType, blob = file] = dataUrl.exec(file) ?? []
  if (!base64.test(blob)) return { type: 'resource_link', uri: file, name: 'file', mimeType: type }
  return { type: 'resource', resource: { uri: `attachment:${at + 1}`, mimeType: type, blob } }
}

/** The limit of OpenAI's and Anthropic's APIs. MCP itself allows more. */
const maxLength = 64
const digits = 8

/** Names with this prefix belong to the fixed tools. */
const reserved = 'stet_'

/**
 * Returns the name of the tool that runs the prompt at `path`. Different paths have different names, which depend on no
 * other prompt.
 * @example toolName('support/reply') // 'support__reply'
 */
export function toolName(path: string): string {
  const plain = path.replaceAll('/', '__')
  return isPlain(path, plain) ? plain : `${cleaned(plain)}_${hash('sha256', path).slice(0, digits)}`
}

/** Returns the only path whose tool can have this name. Undefined for a name that ends with a hash, or of no prompt. */
export function pathOfToolName(name: string): string | undefined {
  const path = name.replaceAll('__', '/')
  return toolName(path) === name ? path : undefined
}

function isPlain(path: string, plain: string): boolean {
  if (plain.length > maxLength || !/^[\w-]+$/.test(plain)) return false
  if (/__|_\/|\/_/.test(path) || plain.startsWith(reserved)) return false
  // Such a name could also be the cleaned name of another path.
  return !/_[0-9a-f]{8}$/.test(plain)
}

function cleaned(plain: string): string {
  const text = plain.replace(/[^\w-]/g, '_').slice(0, maxLength - digits - 1)
  return text.startsWith(reserved) ? `_${text}`.slice(0, maxLength - digits - 1) : text
}
