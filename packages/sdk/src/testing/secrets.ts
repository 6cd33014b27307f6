const HIDDEN = '***'

// `key` is the secret of a new API key, `token` that of a provider key.
const names = 'key|token|password|secret|authorization|api[-_]?key|access[-_]?token|client[-_]?secret'
const SECRET_NAMES = new RegExp(`^(${names})$`, 'i')
const WHOLLY_SECRET = /^(mcpHeaders|headers)$/
const SECRET_FORMS = /\b(stet_[\w-]{8,}|sk-[\w-]{8,}|Bearer\s+[\w.~+/=-]{8,})/g

/** Returns a copy with `***` in place of secret fields, strings that look like API keys, and the given secrets. */
export function withoutSecrets(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return hidden(value, secrets)
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, field(name, child, secrets)]))
}

function field(name: string, child: unknown, secrets: readonly string[]): unknown {
  if (SECRET_NAMES.test(name) && typeof child === 'string') return HIDDEN
  if (WHOLLY_SECRET.test(name) && typeof child === 'object' && child !== null) {
    return Object.fromEntries(Object.keys(child).map((key) => [key, HIDDEN]))
  }
  return withoutSecrets(child, secrets)
}

// Match secret fields in text, because event streams are text with embedded JSON.
const STRING = String.raw`"(?:[^"\\]|\\.)*"`
const SECRET_FIELDS = new RegExp(`"(${names})":\\s*${STRING}`, 'gi')
const SECRET_HEADERS = /"(mcpHeaders|headers)":\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g
const FIELD = new RegExp(`(${STRING}):\\s*${STRING}`, 'g')

function hidden(text: string, secrets: readonly string[]): string {
  const known = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
  return known
    .replace(SECRET_FORMS, HIDDEN)
    .replace(SECRET_FIELDS, `"$1":"${HIDDEN}"`)
    .replace(SECRET_HEADERS, (headers) => headers.replace(FIELD, `$1:"${HIDDEN}"`))
}
