/** Converts settings to body keys and headers. */

import { createHash } from 'node:crypto'
import { defined } from '@stet/template/defined'
import type { ModelRequest, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { asNumber, asObject, asText, isObject, type Json } from '../json.ts'

export interface SettingRules {
  names: Readonly<Record<string, string>>
  dropped: ReadonlySet<string>
}

// Keys for stet itself, and keys that other functions set.
const stetKeys = keys(
  'provider model messages stream stream_options schema validate tools agents type name description parameters maxSteps ' +
    'maxRetries headers azure providerOptions maxTokens maxOutputTokens toolChoice tool_choice parallelToolCalls ' +
    'parallel_tool_calls',
)

export function keys(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

/** Returns the type `object`, because unknown settings are sent unchanged. */
export function settingsBody({ kind }: ProviderSettings, settings: Json, { names, dropped }: SettingRules): object {
  const body: Json = {}
  const { providerOptions: options } = settings
  // `providerOptions` has one object per provider kind. Only the object of this kind is sent.
  const own = options ? asObject(Object.getOwnPropertyDescriptor(options, kind)?.value) : {}
  for (const [key, value] of Object.entries({ ...settings, ...own })) {
    if (value === undefined || value === null || stetKeys.has(key) || dropped.has(key)) continue
    body[Object.hasOwn(names, key) ? (names[key] ?? key) : key] = value
  }
  return body
}

export function tokenLimit(settings: Json): number | undefined {
  return asNumber(settings['maxOutputTokens'] ?? settings['maxTokens'])
}

const reservedHeaders = keys(
  'authorization host content-length content-type accept accept-encoding connection keep-alive proxy-authenticate ' +
    'proxy-authorization te trailer transfer-encoding upgrade expect api-key cookie',
)

/**
 * The protocol's headers override the prompt's, which override the provider key's.
 * @param own the protocol's fixed headers, such as authentication.
 * @param defaults headers that the provider key and the prompt may override.
 * @throws ProviderError `misconfigured` for a reserved or malformed header.
 */
export function requestHeaders(
  provider: ProviderSettings,
  request: Pick<ModelRequest, 'settings' | 'stream'>,
  own: Record<string, string> = {},
  defaults: Record<string, string> = {},
): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'stet' }
  for (const source of [defaults, provider.configuration['headers'], request.settings['headers']]) {
    for (const [name, value] of Object.entries(asObject(source))) addHeader(headers, name.toLowerCase(), value)
  }
  return {
    ...headers,
    accept: request.stream ? 'text/event-stream' : 'application/json',
    'content-type': 'application/json',
    ...own,
  }
}

function addHeader(headers: Record<string, string>, name: string, value: unknown): void {
  const isWellFormed = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(String(value))
  if (!isWellFormed || reservedHeaders.has(name)) {
    throw new ProviderError('misconfigured', `The header '${name.slice(0, 100)}' cannot be set`)
  }
  headers[name] = String(value)
}

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

export function toolChoiceOf(settings: Json): ToolChoice | undefined {
  const written = settings['toolChoice'] ?? settings['tool_choice']
  const choice = asObject(written)
  const word = typeof written === 'string' ? written : asText(choice['type'])
  if (word === 'any') return 'required'
  if (word === 'auto' || word === 'none' || word === 'required') return word
  const name = asText(asObject(choice['function'])['name']) || asText(choice['name']) || asText(choice['toolName'])
  return name === '' ? undefined : { name }
}

export function parallelCallsOf(settings: Json): boolean | undefined {
  const written = settings['parallelToolCalls'] ?? settings['parallel_tool_calls']
  return typeof written === 'boolean' ? written : undefined
}

/** Builds `tool_choice` and `parallel_tool_calls`. Services reject both keys in a request without tools. */
export function toolSettings(settings: Json, named: (choice: { name: string }) => object): object {
  const choice = toolChoiceOf(settings)
  return defined({
    tool_choice: typeof choice === 'object' ? named(choice) : choice,
    parallel_tool_calls: parallelCallsOf(settings),
  })
}

export interface ToolIdForm {
  fits: RegExp
  length: number
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Keeps an id that fits the form. Otherwise hashes the id, so that equal ids stay equal without a table. */
export function toolIdIn(form: ToolIdForm | undefined, id: string): string {
  if (!form || form.fits.test(id)) return id
  const digest = createHash('sha256').update(id).digest()
  return Array.from(digest.subarray(0, form.length), (byte) => alphabet.charAt(byte % alphabet.length)).join('')
}

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
