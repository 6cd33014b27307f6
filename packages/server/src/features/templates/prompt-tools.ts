/** Reads a prompt's `tools`. A tool with a definition becomes a client tool. A bare name selects an operator's tool. */
import { RunError } from '../../shared/app-error.ts'

export interface ToolDefinition {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/
export const toolNames = '1 to 64 letters, digits, underscores and dashes'

export function isToolName(name: string): boolean {
  return TOOL_NAME.test(name)
}

/**
 * @param supplied names of the operator's tools
 * @throws RunError `document_config_error`, or `unsupported_feature_error` with the tool's name.
 */
export function readTools(tools: unknown, path: string, supplied: readonly string[]) {
  const entries = tools === undefined || tools === null ? [] : entriesOf(tools, path)
  const found: { tools: ToolDefinition[]; serverTools: string[] } = { tools: [], serverTools: [] }
  const names = new Set<string>()
  for (const [name, definition] of entries) {
    if (names.has(name)) throw configError(path, `tools.${name}`, `The tool '${name}' is defined twice`)
    names.add(name)
    if (definition === byName) found.serverTools.push(...suppliedUnder(name, supplied, path))
    else found.tools.push(toolOf(name, definition, path))
  }
  return { ...found, serverTools: [...new Set(found.serverTools)] }
}

/** The definition of a tool that is listed only by name. */
const byName = Symbol('by name')

function entriesOf(tools: unknown, path: string): [string, unknown][] {
  if (typeof tools === 'string') return [[tools, byName]]
  if (Array.isArray(tools)) return tools.flatMap((entry) => listEntry(entry, path))
  if (typeof tools === 'object' && tools !== null) return Object.entries(tools)
  throw configError(path, 'tools', 'tools must be a map or a list')
}

function listEntry(entry: unknown, path: string): [string, unknown][] {
  if (typeof entry === 'string') return [[entry, byName]]
  if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) return Object.entries(entry)
  throw configError(path, 'tools', 'An entry of tools must be a map of a name to its definition')
}

// `latitude/*` selects all of the operator's tools under `latitude/`.
function suppliedUnder(name: string, supplied: readonly string[], path: string): string[] {
  const found = name.endsWith('/*')
    ? supplied.filter((each) => each.startsWith(name.slice(0, -1)))
    : supplied.filter((each) => each === name)
  if (found.length > 0) return found
  if (name.includes('/')) throw unsupportedTool(name)
  throw configError(
    path,
    `tools.${name}`,
    `The tool '${name}' needs a definition: the operator supplies none of this name`,
  )
}

function toolOf(name: string, definition: unknown, path: string): ToolDefinition {
  if (name.includes('/') || Array.isArray(definition)) throw unsupportedTool(name)
  if (!isToolName(name)) throw configError(path, `tools.${name}`, `Tool names are ${toolNames}`)
  const keys = definition ?? {}
  if (typeof keys !== 'object') throw configError(path, `tools.${name}`, `The tool '${name}' must be defined by a map`)
  const { description, parameters, handler } = keys as Record<string, unknown>
  if (handler !== undefined) throw unsupportedTool(name)
  if (description !== undefined && description !== null && typeof description !== 'string') {
    throw configError(path, `tools.${name}.description`, `The description of the tool '${name}' must be text`)
  }
  return { name, ...(description ? { description } : {}), parameters: argumentSchema(name, parameters, path) }
}

function argumentSchema(name: string, schema: unknown, path: string): Record<string, unknown> {
  if (schema === undefined || schema === null) return { type: 'object', properties: {} }
  if (typeof schema !== 'object' || Array.isArray(schema)) {
    throw configError(path, `tools.${name}.parameters`, `The parameters of the tool '${name}' must be a JSON Schema`)
  }
  return { type: 'object', ...schema }
}

function unsupportedTool(name: string): RunError {
  return new RunError('unsupported_feature_error', `Tool '${name}' is not available in stet`, {
    details: { feature: name },
  })
}

export function configError(path: string, key: string, message: string): RunError {
  return new RunError('document_config_error', `${path}: ${message}`, { details: { key, path } })
}
