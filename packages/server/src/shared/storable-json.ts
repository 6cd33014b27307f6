/** JSON that PostgreSQL can store. It supports neither NUL nor lone surrogates in text, and a model may send both. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value)
  return suspicious.test(text) ? JSON.stringify(JSON.parse(text, repair)) : text
}

/** The value of a JSON text as PostgreSQL will return it. @throws SyntaxError */
export function parseStorable(json: string): unknown {
  return escapes.test(json) ? JSON.parse(json, repair) : JSON.parse(json)
}

/** A text as PostgreSQL will return it. A truncated text may end with half a surrogate pair. */
export function storableText(text: string): string {
  return text.replace(unstorable, '\uFFFD')
}

// Other writers escape in either case, and escape surrogate pairs too.
const escapes = /\\u(?:0000|d[89a-f])/i
// JSON.stringify escapes lone surrogates in lower case and never escapes pairs.
const suspicious = /\\u0000|\\ud[89a-f]/
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

function repair(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), item]))
}
