/**
 * Reads provider JSON defensively: a value of an unexpected type counts as absent, or is an `UnknownForm` where content
 * would be lost.
 */
import { isObject } from '@stet/template/parameters'
import { refuseValue } from '../../shared/text-guards.ts'

export type Json = Record<string, unknown>

export { isObject }

export function asObject(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Content of a type that no service is known to send. The call fails with the provider's own words (ADR 71). */
export class UnknownForm extends Error {}

/** @throws UnknownForm for a value that is neither text nor absent. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  throw new UnknownForm()
}

/**
 * Returns undefined for an absent object. Some services send an empty list or text in place of an empty object.
 * @throws UnknownForm for any other value.
 */
export function objectIn(value: unknown): Json | undefined {
  if (isObject(value)) return value
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
    return undefined
  }
  throw new UnknownForm()
}

/** True for text that is not empty, and for a value that contains such text. */
export function holdsText(value: unknown, depth = 5): boolean {
  if (typeof value === 'string') return value !== ''
  return typeof value === 'object' && value !== null && depth > 0
    ? Object.values(value).some((each) => holdsText(each, depth - 1))
    : false
}

/**
 * Returns the arguments of a call as text. Some services send them as an object.
 * @param name the protocol's name for arguments.
 * @throws UnknownForm for arguments under another name. Without them, the tool would run with none.
 */
export function argumentsIn(call: Json, name: 'arguments' | 'input'): string {
  const given = call[name]
  if (typeof given === 'string') return given
  if (given !== undefined && given !== null) return JSON.stringify(given)
  if (['arguments', 'input', 'parameters', 'args'].some((other) => !isBlank(call[other]))) throw new UnknownForm()
  return ''
}

/** True for zero, and for an absent or empty value. */
export function isBlank(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return !value || asCount(value) === 0
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Accepts a count as text, as some services send it. A number that no answer can have would become a cost. */
export function asCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value
  return typeof count === 'number' && count <= Number.MAX_SAFE_INTEGER ? count : undefined
}

/** Returns undefined for text that is no JSON object. Google wraps an object in a list with one element. */
export function parseAnswer(data: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(data)
    const whole: unknown = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed
    return isObject(whole) ? whole : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the arguments, or undefined if the text is not a JSON object or cannot be stored unchanged. Blank text means
 * `{}`. Some gateways send `{}` before the arguments, and some repeat the complete arguments at their end.
 */
export function parseArguments(rawArgs: string): Json | undefined {
  const text = rawArgs.trim()
  if (text === '') return {}
  const half = text.slice(0, text.length / 2)
  return (
    parsedArguments(text) ?? parsedArguments(text.startsWith('{}') ? text.slice(2) : half + half === text ? half : '')
  )
}

function parsedArguments(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && refuseValue(value) === undefined ? value : undefined
  } catch {
    return undefined
  }
}
