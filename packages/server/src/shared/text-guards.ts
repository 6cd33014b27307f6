/** Guards against values that the database cannot store unchanged. Requests are refused, model output is repaired. */
export interface Refusal {
  path: (string | number)[]
  reason: string
}

export const maxJsonDepth = 64
export const tooDeep = `must not be nested deeper than ${maxJsonDepth} levels`

/** Returns why a text cannot be stored and returned unchanged, or undefined if it can. */
export function refuseText(text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain NUL characters'
  if (!text.isWellFormed()) return 'must not contain lone surrogates'
  return undefined
}

/**
 * Finds the first invalid value in parsed JSON: NUL, lone surrogates, a key `__proto__`, non-finite numbers (`1e400`),
 * or nesting deeper than 64. The path is built only for an invalid value, so that valid values are checked faster.
 */
export function refuseValue(value: unknown, depth = 0): Refusal | undefined {
  if (typeof value !== 'object' || value === null) {
    const isInfinite = typeof value === 'number' && !Number.isFinite(value)
    const reason = isInfinite ? 'must be a finite number' : typeof value === 'string' ? refuseText(value) : undefined
    return reason === undefined ? undefined : { path: [], reason }
  }
  if (depth >= maxJsonDepth) return { path: [], reason: tooDeep }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const refusal = refuseValue(value[index], depth + 1)
      if (refusal) return { path: [index, ...refusal.path], reason: refusal.reason }
    }
    return undefined
  }
  const object = value as Readonly<Record<string, unknown>>
  // `Object.entries` would cost five times as much for thousands of keys.
  for (const key of Object.keys(object)) {
    const reason = key === '__proto__' ? "must not have a key '__proto__'" : refuseText(key)
    if (reason !== undefined) return { path: [], reason }
    const refusal = refuseValue(object[key], depth + 1)
    if (refusal) return { path: [key, ...refusal.path], reason: refusal.reason }
  }
  return undefined
}

/** Serializes to JSON. Replaces NUL and lone surrogates: a model may send them, and PostgreSQL cannot store them. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value)
  return suspicious.test(text) ? JSON.stringify(JSON.parse(text, repair)) : text
}

/** Parses JSON. Replaces escaped NUL and lone surrogates, as `storableJson` does. @throws SyntaxError */
export function parseStorable(json: string): unknown {
  return escapes.test(json) ? JSON.parse(json, repair) : JSON.parse(json)
}

/** Replaces NUL and lone surrogates. A truncated text may end with half a surrogate pair. */
export function storableText(text: string): string {
  return text.replace(unstorable, '\uFFFD')
}

// Other JSON writers use either letter case, and escape surrogate pairs too.
const escapes = /\\u(?:0000|d[89a-f])/i
// JSON.stringify escapes lone surrogates in lower case and never escapes pairs.
const suspicious = /\\u0000|\\ud[89a-f]/
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

function repair(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), item]))
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns a uuid in lower case, or undefined if the text is not a uuid. */
export function readUuid(text: string): string | undefined {
  return uuidForm.test(text) ? text.toLowerCase() : undefined
}
