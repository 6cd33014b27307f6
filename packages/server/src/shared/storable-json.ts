/** JSON that PostgreSQL can read: its texts know neither NUL nor lone surrogates, and a model may send both. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value)
  return suspicious.test(text) ? JSON.stringify(JSON.parse(text, repair)) : text
}

// JSON.stringify writes lone surrogates as lower-case escapes and never escapes paired ones.
const suspicious = /\\u0000|\\ud[89a-f]/
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

function repair(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replace(unstorable, '\uFFFD')
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.replace(unstorable, '\uFFFD'), item]))
}
