import { asList, asNumber, asObject, asText, isObject, type Json } from '../json.ts'

interface Place {
  root: Json
  depth: number
  /** Position in a list, used to make the items of a list differ. */
  index: number
}

// Limits recursive schemas. From `sparseDepth` on, only required keys and required list items are built. Below
// `deepest`, every value is null.
const sparseDepth = 6
const deepest = 12
const maxList = 100

export function instanceOf(schema: Json): unknown {
  return build(schema, { root: schema, depth: 0, index: 0 })
}

function build(node: unknown, place: Place): unknown {
  if (!isObject(node) || place.depth > deepest) return null
  const given = givenValue(node, place.index)
  if (given !== undefined) return given
  const below = { ...place, depth: place.depth + 1 }
  if (typeof node['$ref'] === 'string') return build(resolveRef(place.root, node['$ref']), below)
  if (Array.isArray(node['allOf'])) return build(merged(node, place.root), below)
  for (const key of ['anyOf', 'oneOf']) {
    const [first] = asList(node[key])
    if (isObject(first)) return build({ ...node, [key]: undefined, ...first }, below)
  }
  return ofType(typeOf(node), node, place)
}

function givenValue(node: Json, index: number): unknown {
  if (node['const'] !== undefined) return node['const']
  const values = asList(node['enum'])
  if (values.length > 0) return values[index % values.length]
  return node['default'] !== undefined ? node['default'] : asList(node['examples'])[index]
}

function typeOf(node: Json): unknown {
  const { type } = node
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null'
  if (type !== undefined) return type
  if (isObject(node['properties'])) return 'object'
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
  const properties = asObject(node['properties'])
  const required = asList(node['required']).filter((name) => typeof name === 'string')
  const names = place.depth < sparseDepth ? Object.keys(properties) : []
  const below = { ...place, depth: place.depth + 1, index: 0 }
  const entries = [...new Set([...names, ...required])].map((name) => [
    name,
    build(ownValue(properties, name) ?? {}, below),
  ])
  return Object.fromEntries(entries)
}

function listOf(node: Json, place: Place): unknown[] {
  const first = asList(node['prefixItems'])
  const least = Math.max(asNumber(node['minItems']) ?? 0, place.depth < sparseDepth ? 1 : 0, first.length)
  const length = Math.min(least, asNumber(node['maxItems']) ?? maxList, maxList)
  return Array.from({ length }, (_, index) =>
    build(first[index] ?? node['items'] ?? {}, { ...place, depth: place.depth + 1, index }),
  )
}

function numberOf(node: Json, index: number): number {
  const step = asNumber(node['multipleOf']) ?? 1
  const above = asNumber(node['exclusiveMinimum'])
  const least = asNumber(node['minimum']) ?? (above === undefined ? undefined : above + step / 2)
  const most = asNumber(node['maximum']) ?? asNumber(node['exclusiveMaximum'])
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
  const format = ownValue(formats, asText(node['format']))
  if (format !== undefined) return format
  const text = index === 0 ? 'demo' : `demo ${index + 1}`
  const least = Math.min(asNumber(node['minLength']) ?? 0, 10_000)
  return text.padEnd(least, '.').slice(0, asNumber(node['maxLength']) ?? Number.POSITIVE_INFINITY)
}

function resolveRef(root: Json, ref: string): unknown {
  if (!ref.startsWith('#')) return {}
  const steps: readonly string[] = ref.slice(1).match(/[^/]+/g) ?? []
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((node, name) => ownValue(asObject(node), name), root)
}

function merged({ allOf, ...node }: Json, root: Json): Json {
  const parts = asList(allOf).map((part) => {
    const { $ref } = asObject(part)
    return asObject(typeof $ref === 'string' ? resolveRef(root, $ref) : part)
  })
  const all = [node, ...parts]
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map((part) => part['properties'])),
    required: all.flatMap((part) => asList(part['required'])),
  }
}

function ownValue<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
