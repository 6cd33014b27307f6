/** Reads provider JSON defensively: a value of an unexpected type counts as absent. */
import { refuseValue } from '../../shared/text-guards.ts'

export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Accepts a count as text, as some services send it. */
export function asCount(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : undefined
}

/** Returns undefined for text that is not JSON. Google wraps an object in a list with one element. */
export function parseAnswer(data: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(data)
    const whole: unknown = Array.isArray(parsed) ? parsed[0] : parsed
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
