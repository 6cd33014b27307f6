/** Reads provider JSON defensively: a value of an unexpected type counts as absent. */
import { ProviderError } from '../../features/providers/provider-error.ts'
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

/** Parses a complete response or one frame. @throws ProviderError `malformed` for invalid JSON. */
export function parseAnswer(data: string): Json {
  try {
    const parsed: unknown = JSON.parse(data)
    // Google wraps an error in a one-element list.
    return asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  } catch {
    throw unreadable()
  }
}

export function unreadable(): ProviderError {
  return new ProviderError('malformed', 'The provider sent an answer that cannot be read')
}

/**
 * Returns the arguments, or undefined if the text is not a JSON object or cannot be stored unchanged. Blank text means
 * `{}`.
 */
export function parseArguments(rawArgs: string): Json | undefined {
  if (rawArgs.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(rawArgs)
    return isObject(value) && refuseValue(value) === undefined ? value : undefined
  } catch {
    return undefined
  }
}
