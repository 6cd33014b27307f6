/** Parses the arguments of a complete tool call. */
import { refuseValue } from '../../../shared/text-guard.ts'

/** Undefined for anything but a JSON object that can be stored and returned unchanged. */
export function parseArguments(rawArgs: string): Record<string, unknown> | undefined {
  if (rawArgs.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(rawArgs)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && refuseValue(value) === undefined ? { ...value } : undefined
  } catch {
    return undefined
  }
}
