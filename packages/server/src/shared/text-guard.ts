/** Refuses, at the edge, values that databases and JSON writers treat differently from one another. */
export interface Refusal {
  path: (string | number)[]
  reason: string
}

/** Levels of arrays and objects in one another. */
export const maxJsonDepth = 64
export const tooDeep = `must not be nested deeper than ${maxJsonDepth} levels`

/** Why a text cannot be stored and returned unchanged; undefined when it can. */
export function refuseText(text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain NUL characters'
  if (!text.isWellFormed()) return 'must not contain lone surrogates'
  return undefined
}

/**
 * The first refused place in a parsed JSON value: NUL, lone surrogates, a key `__proto__`, numbers that are not finite
 * (`1e400`), nesting deeper than 64.
 */
export function refuseValue(value: unknown): Refusal | undefined {
  const path: (string | number)[] = []
  const reason = findRefused(value, path, 0)
  return reason === undefined ? undefined : { path, reason }
}

// The path is built while returning, so that a value without fault allocates nothing.
function findRefused(value: unknown, path: (string | number)[], depth: number): string | undefined {
  if (typeof value === 'string') return refuseText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'must be a finite number'
  if (typeof value !== 'object' || value === null) return undefined
  if (depth >= maxJsonDepth) return tooDeep
  return Array.isArray(value)
    ? findInArray(value, path, depth)
    : findInObject(value as Record<string, unknown>, path, depth)
}

function findInArray(values: readonly unknown[], path: (string | number)[], depth: number): string | undefined {
  for (let index = 0; index < values.length; index += 1) {
    const reason = findRefused(values[index], path, depth + 1)
    if (reason !== undefined) {
      path.unshift(index)
      return reason
    }
  }
  return undefined
}

function findInObject(
  object: Readonly<Record<string, unknown>>,
  path: (string | number)[],
  depth: number,
): string | undefined {
  // Not `entries`: it costs five times as much for thousands of keys.
  for (const key of Object.keys(object)) {
    const keyReason = key === '__proto__' ? "must not have a key '__proto__'" : refuseText(key)
    if (keyReason !== undefined) return keyReason
    const reason = findRefused(object[key], path, depth + 1)
    if (reason !== undefined) {
      path.unshift(key)
      return reason
    }
  }
  return undefined
}
