import { defined } from '@stet/template/defined'
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
  reasoning_summary: 'reasoningSummary',
  'reasoning.effort': 'reasoningEffort',
  'reasoning.summary': 'reasoningSummary',
  tool_choice: 'toolChoice',
  toolChoice: 'toolChoice',
  parallel_tool_calls: 'parallelToolCalls',
  parallelToolCalls: 'parallelToolCalls',
  max_turns: 'maxSteps',
  maxTurns: 'maxSteps',
  thinking: 'thinking',
  thinking_config: 'thinkingConfig',
  thinkingConfig: 'thinkingConfig',
  safety_settings: 'safetySettings',
  safetySettings: 'safetySettings',
  description: 'description',
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^[+-]?\d+(\.\d+)?$/.test(value))
const isText = (value: unknown): boolean => typeof value === 'string'
const isTexts = (value: unknown): boolean => [value].flat().every(isText)

/** Values that a run accepts for a key of the front matter. Others would only fail later. */
const accepted = new Map<string, (value: unknown) => boolean>([
  ...['model', 'provider', 'description'].map((key) => [key, isText] as const),
  ...['temperature', 'topP', 'topK', 'maxTokens', 'presencePenalty', 'frequencyPenalty', 'seed'].map(
    (key) => [key, isNumber] as const,
  ),
  ...['thinking', 'thinkingConfig', 'safetySettings'].map((key) => [key, isJsonObject] as const),
  ['stop', isTexts],
  ['maxSteps', (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 150],
  ['parallelToolCalls', (value) => typeof value === 'boolean'],
  ['toolChoice', isToolChoice],
])

function isToolChoice(value: unknown): boolean {
  if (typeof value === 'string') return ['auto', 'none', 'required', 'any'].includes(value)
  if (!isJsonObject(value) || value['type'] !== 'function') return false
  const { name } = isJsonObject(value['function']) ? value['function'] : value
  return isText(name)
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
    const isAccepted = key !== undefined && (accepted.get(key)?.(value) ?? true)
    if (!isAccepted) losses.push(`The setting "${name}" is not supported: ${JSON.stringify(value).slice(0, 200)}`)
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
    converted[name] = defined({ description, parameters: parameters ?? schema ?? {} })
  }
  return Object.keys(converted).length > 0 ? converted : undefined
}

export function convertResponseFormat(format: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (!isJsonObject(format) || format['type'] === 'text') return undefined
  const { schema, strict, description, name } = isJsonObject(format['json_schema']) ? format['json_schema'] : format
  if (isJsonObject(schema)) {
    // stet sends every schema as strict that meets the conditions.
    if (strict === false) losses.push('The setting "strict" of the response format is not supported: false')
    // A request names the format by the title of its schema.
    const title = typeof name === 'string' && name !== '' && { title: name }
    return { ...title, ...(typeof description === 'string' && { description }), ...schema }
  }
  losses.push(`The response format ${JSON.stringify(format).slice(0, 200)} has no schema: describe it in the prompt`)
  return undefined
}
