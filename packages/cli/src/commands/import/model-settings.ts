import { isJsonObject } from '../../settings/json-file.ts'

/** Maps another tool's names to front matter keys. */
export type KeyMap = Readonly<Record<string, string>>

/** Settings as named by the OpenAI API and related tools. */
export const openAiKeys: KeyMap = {
  model: 'model',
  provider: 'provider',
  temperature: 'temperature',
  top_p: 'topP',
  topP: 'topP',
  top_k: 'topK',
  topK: 'topK',
  max_tokens: 'maxTokens',
  maxTokens: 'maxTokens',
  max_completion_tokens: 'maxTokens',
  max_output_tokens: 'maxTokens',
  maxOutputTokens: 'maxTokens',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
  stop: 'stop',
  stop_sequences: 'stop',
  stopSequences: 'stop',
  reasoning_effort: 'reasoningEffort',
  description: 'description',
}

/** Copies settings that the front matter supports. Reports all others that have a value. */
export function takeSettings(
  given: Readonly<Record<string, unknown>>,
  keys: KeyMap,
  losses: string[],
): Record<string, unknown> {
  const taken: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === '') continue
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (key === undefined) losses.push(`The setting "${name}" is not supported: ${JSON.stringify(value).slice(0, 200)}`)
    // In other tools, -1 means "no limit". In stet, a missing key means the same.
    else if (!(key === 'maxTokens' && value === -1)) taken[key] = value
  }
  return taken
}

/** Splits `provider/model` and translates provider names that differ in stet. */
export function splitModel(model: string): { provider?: string; model: string } {
  const [first = '', ...rest] = model.split('/')
  if (rest.length === 0) return { model }
  const names: KeyMap = { googleai: 'google', vertexai: 'google_vertex', gemini: 'google' }
  return { provider: names[first] ?? first, model: rest.join('/') }
}

/**
 * Converts OpenAI tools, `{ type: 'function', function: { name, … } }` or flat, to the front matter's map. Reports tools
 * that a provider executes, such as `{ type: 'web_search' }`.
 */
export function convertTools(tools: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (tools === undefined || tools === null) return undefined
  const converted: Record<string, unknown> = {}
  for (const tool of Array.isArray(tools) ? tools : [tools]) {
    const definition = isJsonObject(tool) && isJsonObject(tool['function']) ? tool['function'] : tool
    const isFunction = isJsonObject(definition) && (tool['type'] ?? 'function') === 'function'
    if (!isFunction || typeof definition['name'] !== 'string') {
      losses.push(`The tool ${JSON.stringify(tool).slice(0, 200)} is not supported`)
      continue
    }
    const { type, name, description, parameters, json_schema: schema, ...others } = definition
    for (const [key, value] of Object.entries(others)) {
      if (value === null) continue
      losses.push(`The setting "${key}" of the tool "${name}" is not supported: ${JSON.stringify(value).slice(0, 200)}`)
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
        `The setting "${key}" of the response format is not supported: ${JSON.stringify(value).slice(0, 200)}`,
      )
    }
    return holder['schema']
  }
  losses.push(`The response format ${JSON.stringify(format).slice(0, 200)} has no schema: describe it in the prompt`)
  return undefined
}
