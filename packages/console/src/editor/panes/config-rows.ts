import type { YamlPath } from '../text/yaml-place.ts'

/** A line of the tree of a schema or of tools. */
export interface ConfigRow {
  /** Its path as text, which no other row has. */
  key: string
  path: YamlPath
  level: number
  name: string
  /** For example "string or null", "one of low, high". Empty if there is nothing to say. */
  type: string
  isRequired: boolean
  description: string
  /** Null if nothing is below it. */
  isOpen: boolean | null
  position: number
  siblings: number
}

/** A front matter may be written by anyone, so the tree is bounded. The rest is in the text. */
const mostRows = 400
const deepest = 64
/** Rows above this level are open at first. */
const openLevels = 3
const longestName = 80
const longestText = 300

interface Node {
  name: string
  path: YamlPath
  type?: string
  isRequired?: boolean
  description?: unknown
  children: () => Node[]
}

/** The rows of a tree. `toggled` holds the keys of those that the user has opened or closed. */
export function rowsOfConfig(
  of: 'schema' | 'tools',
  value: unknown,
  toggled: ReadonlySet<string>,
): { rows: ConfigRow[]; isCut: boolean } {
  const rows: ConfigRow[] = []
  const roots = of === 'schema' ? [schemaNode('schema', value, ['schema'])] : toolNodes(value)
  return { rows, isCut: !addRows(rows, roots, 1, toggled) }
}

/** False if not all rows have been added. */
function addRows(rows: ConfigRow[], nodes: readonly Node[], level: number, toggled: ReadonlySet<string>): boolean {
  for (const [at, { name, path, type = '', isRequired = false, description, children }] of nodes.entries()) {
    if (rows.length >= mostRows || level > deepest) return false
    const key = JSON.stringify(path)
    const below = children()
    const isOpen = below.length === 0 ? null : level < openLevels !== toggled.has(key)
    rows.push({
      key,
      path,
      level,
      name: clipped(name, longestName),
      type: clipped(type, longestText),
      isRequired,
      description: typeof description === 'string' ? clipped(description, longestText) : '',
      isOpen,
      position: at + 1,
      siblings: nodes.length,
    })
    if (isOpen && !addRows(rows, below, level + 1, toggled)) return false
  }
  return true
}

/** Both shapes: a map of names, and a list of names and maps. */
function toolNodes(tools: unknown): Node[] {
  if (Array.isArray(tools))
    return tools.flatMap((entry, at) =>
      isMap(entry)
        ? Object.entries(entry).map(([name, tool]) => toolNode(name, tool, ['tools', at, name]))
        : [{ name: textOf(entry), path: ['tools', at], children: noNodes }],
    )
  if (isMap(tools)) return Object.entries(tools).map(([name, tool]) => toolNode(name, tool, ['tools', name]))
  return [{ name: textOf(tools), path: ['tools'], children: noNodes }]
}

function toolNode(name: string, tool: unknown, path: YamlPath): Node {
  const { description, parameters } = isMap(tool) ? tool : {}
  return { name, path, description, children: () => schemaChildren(parameters, [...path, 'parameters']) }
}

function schemaNode(name: string, schema: unknown, path: YamlPath, isRequired = false): Node {
  return {
    name,
    path,
    type: typeOf(schema),
    isRequired,
    description: isMap(schema) ? schema['description'] : undefined,
    children: () => schemaChildren(schema, path),
  }
}

function schemaChildren(schema: unknown, path: YamlPath): Node[] {
  if (!isMap(schema)) return []
  const { required } = schema
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  const named = (keyword: string, required: (name: string) => boolean = () => false) => {
    const value = schema[keyword]
    if (!isMap(value)) return []
    return Object.entries(value).map(([name, child]) =>
      schemaNode(name, child, [...path, keyword, name], required(name)),
    )
  }
  const listed = (keyword: string, label: string) => {
    const value = schema[keyword]
    if (!Array.isArray(value)) return []
    return value.map((child, at) => schemaNode(`${label} ${at + 1}`, child, [...path, keyword, at]))
  }
  const single = (keyword: string, label: string) =>
    isMap(schema[keyword]) ? [schemaNode(label, schema[keyword], [...path, keyword])] : []
  return [
    ...named('properties', isRequired),
    ...named('patternProperties'),
    ...single('additionalProperties', 'other keys'),
    ...listed('prefixItems', 'item'),
    ...listed('items', 'item'),
    ...single('items', 'each item'),
    ...listed('anyOf', 'choice'),
    ...listed('oneOf', 'choice'),
    ...listed('allOf', 'part'),
    ...named('$defs'),
    ...named('definitions'),
  ]
}

function typeOf(schema: unknown): string {
  if (schema === true) return 'anything'
  if (schema === false) return 'nothing'
  if (!isMap(schema)) return textOf(schema)
  const { type, enum: values, $ref, properties, items } = schema
  if (Array.isArray(values)) return `one of ${values.slice(0, 20).map(textOf).join(', ')}`
  if ('const' in schema) return textOf(schema['const'])
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.slice(0, 20).map(textOf).join(' or ')
  if (typeof $ref === 'string') return $ref
  return properties ? 'object' : items ? 'array' : ''
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return clipped(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), longestText)
}

function clipped(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}

function noNodes(): Node[] {
  return []
}
