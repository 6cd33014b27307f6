/** Rejects values that databases and JSON writers treat differently. */
export interface Refusal {
  path: (string | number)[]
  reason: string
}

/** Maximum nesting of arrays and objects. */
export const maxJsonDepth = 64
export const tooDeep = `must not be nested deeper than ${maxJsonDepth} levels`

/** Why a text cannot be stored and returned unchanged; undefined if it can. */
export function refuseText(text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain NUL characters'
  if (!text.isWellFormed()) return 'must not contain lone surrogates'
  return undefined
}

/**
 * The first refused value in parsed JSON: NUL, lone surrogates, a key `__proto__`, non-finite numbers (`1e400`), or
 * nesting deeper than 64.
 */
export function refuseValue(value: unknown): Refusal | undefined {
  const path: (string | number)[] = []
  const reason = findRefused(value, path, 0)
  return reason === undefined ? undefined : { path, reason }
}

// The path is built on the way back, so that a valid value allocates nothing.
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
