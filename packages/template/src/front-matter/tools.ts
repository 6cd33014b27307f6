/** Reads a prompt's `tools`. A tool with a definition becomes a client tool. A bare name selects an operator's tool. */

/** Why a run refuses its configuration. */
export interface ConfigFault {
  /** The key as a run names it, for example `tools.search`. */
  key: string
  /** The way to the key through the maps and lists of the front matter. */
  at: readonly (string | number)[]
  message: string
  /** Set if the key asks for a tool that stet does not have. */
  feature?: string
}

export type ReportFault = (fault: ConfigFault) => void

export interface ToolDefinition {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
  /** True if the provider must keep the arguments to the schema. A prompt's own tools do not have it. */
  strict?: boolean | undefined
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/
export const toolNames = '1 to 64 letters, digits, underscores and dashes'

export function isToolName(name: string): boolean {
  return TOOL_NAME.test(name)
}

/** The definition of a tool that is listed only by name. */
const byName = Symbol('by name')

interface Entry {
  name: string
  definition: unknown
  at: readonly (string | number)[]
}

/** As `readConfig`. */
export function readTools(tools: unknown, report: ReportFault, supplied?: readonly string[]) {
  const found: { tools: ToolDefinition[]; serverTools: string[] } = { tools: [], serverTools: [] }
  if (tools === undefined || tools === null) return found
  const names = new Set<string>()
  for (const entry of entriesOf(tools, report)) {
    const { name, definition, at } = entry
    if (names.has(name)) report({ key: `tools.${name}`, at, message: `The tool '${name}' is defined twice` })
    names.add(name)
    if (definition !== byName) found.tools.push(toolOf(entry, report))
    else if (supplied) found.serverTools.push(...suppliedUnder(entry, supplied, report))
  }
  return { ...found, serverTools: [...new Set(found.serverTools)] }
}

function entriesOf(tools: unknown, report: ReportFault): Entry[] {
  if (typeof tools === 'string') return [{ name: tools, definition: byName, at: ['tools'] }]
  if (Array.isArray(tools)) return tools.flatMap((entry, index) => listEntry(entry, ['tools', index], report))
  if (typeof tools === 'object' && tools !== null) return namedEntries(tools, ['tools'])
  report({ key: 'tools', at: ['tools'], message: 'tools must be a map or a list' })
  return []
}

function listEntry(entry: unknown, at: Entry['at'], report: ReportFault): Entry[] {
  if (typeof entry === 'string') return [{ name: entry, definition: byName, at }]
  if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) return namedEntries(entry, at)
  report({ key: 'tools', at, message: 'An entry of tools must be a map of a name to its definition' })
  return []
}

function namedEntries(map: object, at: Entry['at']): Entry[] {
  return Object.entries(map).map(([name, definition]) => ({ name, definition, at: [...at, name] }))
}

// `latitude/*` selects all of the operator's tools under `latitude/`.
function suppliedUnder({ name, at }: Entry, supplied: readonly string[], report: ReportFault): string[] {
  const found = name.endsWith('/*')
    ? supplied.filter((each) => each.startsWith(name.slice(0, -1)))
    : supplied.filter((each) => each === name)
  if (found.length === 0 && name.includes('/')) report(unsupportedTool(name, at))
  else if (found.length === 0) {
    const message = `The tool '${name}' needs a definition: the operator supplies none of this name`
    report({ key: `tools.${name}`, at, message })
  }
  return found
}

function toolOf({ name, definition, at }: Entry, report: ReportFault): ToolDefinition {
  const key = `tools.${name}`
  const keys = definition ?? {}
  const { description, parameters, handler } = Object(keys) as Record<string, unknown>
  if (name.includes('/') || Array.isArray(definition)) report(unsupportedTool(name, at))
  else if (!isToolName(name)) report({ key, at, message: `Tool names are ${toolNames}` })
  else if (typeof keys !== 'object') report({ key, at, message: `The tool '${name}' must be defined by a map` })
  else if (handler !== undefined) report(unsupportedTool(name, at))
  else if (description !== undefined && description !== null && typeof description !== 'string') {
    const message = `The description of the tool '${name}' must be text`
    report({ key: `${key}.description`, at: [...at, 'description'], message })
  } else if (parameters !== undefined && (typeof parameters !== 'object' || Array.isArray(parameters))) {
    const message = `The parameters of the tool '${name}' must be a JSON Schema`
    report({ key: `${key}.parameters`, at: [...at, 'parameters'], message })
  }
  const schema = parameters ? { type: 'object', ...Object(parameters) } : { type: 'object', properties: {} }
  return { name, ...(typeof description === 'string' && description !== '' ? { description } : {}), parameters: schema }
}

function unsupportedTool(name: string, at: Entry['at']): ConfigFault {
  return { key: `tools.${name}`, at, message: `Tool '${name}' is not available in stet`, feature: name }
}
