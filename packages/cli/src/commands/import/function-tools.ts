import { isJsonObject } from '../../settings/json-file.ts'

/**
 * Tools in the list form of the OpenAI APIs, `{ type: 'function', function: { name, … } }` or flat, as the map of the front matter.
 * Tools that run at a provider, such as `{ type: 'web_search' }`, are reported.
 */
export function convertTools(tools: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (tools === undefined || tools === null) return undefined
  const converted: Record<string, unknown> = {}
  for (const tool of Array.isArray(tools) ? tools : [tools]) {
    const definition = isJsonObject(tool) && isJsonObject(tool['function']) ? tool['function'] : tool
    const isFunction = isJsonObject(definition) && (tool['type'] ?? 'function') === 'function'
    if (!isFunction || typeof definition['name'] !== 'string') {
      losses.push(`The tool ${JSON.stringify(tool).slice(0, 200)} has no counterpart`)
      continue
    }
    const { type, name, description, parameters, json_schema: schema, ...others } = definition
    for (const [key, value] of Object.entries(others)) {
      if (value === null) continue
      losses.push(
        `The setting "${key}" of the tool "${name}" has no counterpart: ${JSON.stringify(value).slice(0, 200)}`,
      )
    }
    converted[name] = { ...(description !== undefined && { description }), parameters: parameters ?? schema ?? {} }
  }
  return Object.keys(converted).length > 0 ? converted : undefined
}

export function convertResponseFormat(format: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (!isJsonObject(format) || format['type'] === 'text') return undefined
  const holder = isJsonObject(format['json_schema']) ? format['json_schema'] : format
  if (isJsonObject(holder['schema'])) {
    for (const key of ['strict', 'description']) {
      const value = holder[key] ?? null
      if (value === null) continue
      losses.push(
        `The setting "${key}" of the answer format has no counterpart: ${JSON.stringify(value).slice(0, 200)}`,
      )
    }
    return holder['schema']
  }
  losses.push(`The answer format ${JSON.stringify(format).slice(0, 200)} has no schema: describe it in the prompt`)
  return undefined
}
