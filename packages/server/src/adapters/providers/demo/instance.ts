type Json = Record<string, unknown>

interface Place {
  root: Json
  depth: number
  /** Position in a list, which keeps items of unique lists distinct. */
  index: number
}

// Limits recursive schemas. Beyond `sparseDepth` only required keys are built, beyond `deepest` nothing.
const sparseDepth = 6
const deepest = 12
const longestList = 100

export function instanceOf(schema: Json): unknown {
  return build(schema, { root: schema, depth: 0, index: 0 })
}

function build(node: unknown, place: Place): unknown {
  if (!isJson(node) || place.depth > deepest) return null
  const given = givenValue(node, place.index)
  if (given !== undefined) return given
  const below = { ...place, depth: place.depth + 1 }
  if (typeof node['$ref'] === 'string') return build(resolveRef(place.root, node['$ref']), below)
  if (Array.isArray(node['allOf'])) return build(merged(node, node['allOf'], place.root), below)
  for (const key of ['anyOf', 'oneOf']) {
    const [first] = Array.isArray(node[key]) ? node[key] : []
    if (isJson(first)) return build({ ...without(node, key), ...first }, below)
  }
  return ofType(typeOf(node), node, place)
}

function givenValue(node: Json, index: number): unknown {
  if (node['const'] !== undefined) return node['const']
  if (Array.isArray(node['enum']) && node['enum'].length > 0) return node['enum'][index % node['enum'].length]
  if (node['default'] !== undefined) return node['default']
  return Array.isArray(node['examples']) ? node['examples'][index] : undefined
}

function typeOf(node: Json): unknown {
  const { type } = node
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null'
  if (type !== undefined) return type
  if (isJson(node['properties'])) return 'object'
  return node['items'] === undefined ? 'string' : 'array'
}

function ofType(type: unknown, node: Json, place: Place): unknown {
  switch (type) {
    case 'object':
      return objectOf(node, place)
    case 'array':
      return listOf(node, place)
    case 'integer':
    case 'number':
      return numberOf(node, place.index)
    case 'boolean':
      return place.index % 2 === 0
    case 'null':
      return null
    default:
      return textOf(node, place.index)
  }
}

function objectOf(node: Json, place: Place): Json {
  const properties = isJson(node['properties']) ? node['properties'] : {}
  const required: unknown[] = Array.isArray(node['required']) ? node['required'] : []
  const names = place.depth < sparseDepth ? Object.keys(properties) : []
  const all = new Set([...names, ...required.filter((name) => typeof name === 'string')])
  const below = { ...place, depth: place.depth + 1, index: 0 }
  return Object.fromEntries(
    [...all].map((name) => [name, build(Object.getOwnPropertyDescriptor(properties, name)?.value ?? {}, below)]),
  )
}

function listOf(node: Json, place: Place): unknown[] {
  const first = Array.isArray(node['prefixItems']) ? node['prefixItems'] : []
  const least = Math.max(numberIn(node, 'minItems') ?? 0, place.depth < sparseDepth ? 1 : 0, first.length)
  const length = Math.min(least, numberIn(node, 'maxItems') ?? longestList, longestList)
  return Array.from({ length }, (_, index) =>
    build(first[index] ?? node['items'] ?? {}, { ...place, depth: place.depth + 1, index }),
  )
}

function numberOf(node: Json, index: number): number {
  const step = numberIn(node, 'multipleOf') ?? 1
  const above = numberIn(node, 'exclusiveMinimum')
  const least = numberIn(node, 'minimum') ?? (above === undefined ? undefined : above + step / 2)
  const most = numberIn(node, 'maximum') ?? numberIn(node, 'exclusiveMaximum')
  if (least !== undefined) return Math.ceil(least / step) * step + index * step
  return most !== undefined && most <= index * step ? Math.floor(most / step) * step - step : index * step
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:00:00Z',
  date: '2026-01-02',
  time: '03:00:00Z',
  email: 'demo@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
}

function textOf(node: Json, index: number): string {
  const format =
    typeof node['format'] === 'string' && Object.hasOwn(formats, node['format']) ? formats[node['format']] : undefined
  if (format !== undefined) return format
  const text = index === 0 ? 'demo' : `demo ${index + 1}`
  const least = Math.min(numberIn(node, 'minLength') ?? 0, 10_000)
  return text.padEnd(least, '.').slice(0, numberIn(node, 'maxLength') ?? Number.POSITIVE_INFINITY)
}

function resolveRef(root: Json, ref: string): unknown {
  if (!ref.startsWith('#')) return {}
  const steps = ref
    .slice(1)
    .split('/')
    .filter((step) => step !== '')
  return steps.reduce<unknown>((node, step) => {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    return isJson(node) ? Object.getOwnPropertyDescriptor(node, key)?.value : undefined
  }, root)
}

function merged(node: Json, parts: readonly unknown[], root: Json): Json {
  const all = [without(node, 'allOf'), ...parts.map((part) => expand(part, root))].filter(isJson)
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map((part) => part['properties'])),
    required: all.flatMap((part) => (Array.isArray(part['required']) ? part['required'] : [])),
  }
}

function expand(part: unknown, root: Json): unknown {
  return isJson(part) && typeof part['$ref'] === 'string' ? resolveRef(root, part['$ref']) : part
}

function without(node: Json, key: string): Json {
  const { [key]: _left, ...rest } = node
  return rest
}

function numberIn(node: Json, key: string): number | undefined {
  const value = node[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
