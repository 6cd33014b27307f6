/** The depth limit for values. Much deeper values would overflow the stack of the code that reads or stores them. */
const MAX_VALUE_DEPTH = 64

/** Thrown for a value that is nested too deeply or contains itself. */
class ValueDepthError extends RangeError {
  override readonly name = 'ValueDepthError'
}

/** @throws ValueDepthError */
export function checkDepth(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth >= MAX_VALUE_DEPTH) throw new ValueDepthError(`Values are nested deeper than ${MAX_VALUE_DEPTH} levels`)
  // bounded: only front matter of at most 64 KB is checked
  for (const child of Object.values(value)) checkDepth(child, depth + 1)
}
