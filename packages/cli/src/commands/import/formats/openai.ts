import { isJsonObject } from '../../../settings/json-file.ts'
import type { ForeignPrompt, ReadSource } from '../imported-prompt.ts'
import type { JsonEntry } from '../json-entries.ts'
import { convertResponseFormat, convertTools, openAiKeys, takeSettings } from '../model-settings.ts'
import { convertPlaceholders, formatMessages, type TextMessage, variableName } from '../prompt-text.ts'

// These keys are metadata, not settings, so they are not reported as losses.
const bookkeeping = new Set(
  'id object name version created_at updated_at createdAt updatedAt is_default status store stream metadata'.split(' '),
)

/**
 * Imports reusable OpenAI prompts from JSON: one object, a list, or `{ data: […] }`. OpenAI has no export API. JSON
 * copied from its dashboard has the fields of a Responses request: `model`, `instructions`, `input` (or `messages`)
 * with `{{variable}}` in any text, `tools`, `text.format`, `reasoning`. Sources:
 * developers.openai.com/api/docs/guides/prompting, …/prompting/migrate-from-prompt-object, and the prompt reference
 * (`id`, `version`, `variables`) of the API's schema.
 */
export function importOpenAi(entries: readonly JsonEntry[]): ReadSource {
  const read: ReadSource = { prompts: [], refused: [] }
  for (const [index, { value: raw, line }] of entries.entries()) {
    const converted = isJsonObject(raw) ? convertPrompt(raw) : 'is not an object'
    if (typeof converted !== 'string') read.prompts.push({ ...converted, line })
    else read.refused.push({ path: `entry ${index + 1}`, line, reason: converted })
  }
  return read
}

/** @returns the prompt, or the reason why the entry is not a prompt */
function convertPrompt(raw: Record<string, unknown>): ForeignPrompt | string {
  const { instructions, input, messages, prompt, variables, tools, text, response_format, reasoning, ...rest } = raw
  const losses: string[] = []
  const found = [
    ...messagesOf(instructions, 'system', losses),
    ...messagesOf(input, 'user', losses),
    ...messagesOf(messages ?? (isJsonObject(prompt) ? undefined : prompt), 'user', losses),
  ]
  const name = [raw['name'], raw['id']].find((one) => typeof one === 'string' && one !== '')
  if (typeof name !== 'string') return 'has neither "name" nor "id": add one to the export'
  if (found.length === 0) return `"${name}" has no text in "instructions", "input", "messages" or "prompt"`
  const settings = Object.fromEntries(Object.entries(rest).filter(([key]) => !bookkeeping.has(key)))
  const { format = response_format, ...textSettings } = isJsonObject(text) ? text : {}
  noteLost(textSettings, 'text', losses)
  const front = {
    ...takeSettings(settings, openAiKeys, losses),
    ...effortOf(reasoning, losses),
    tools: convertTools(tools, losses),
    schema: convertResponseFormat(format, losses),
    parameters: defaultsOf(variables, losses),
  }
  return { path: name, front, text: formatMessages(found), losses }
}

function effortOf(reasoning: unknown, losses: string[]): { reasoningEffort?: unknown } {
  if (!isJsonObject(reasoning)) return {}
  const { effort, ...others } = reasoning
  noteLost(others, 'reasoning', losses)
  return effort === null ? {} : { reasoningEffort: effort }
}

function noteLost(settings: Record<string, unknown>, group: string, losses: string[]): void {
  takeSettings(
    Object.fromEntries(Object.entries(settings).map(([key, value]) => [`${group}.${key}`, value])),
    {},
    losses,
  )
}

function messagesOf(value: unknown, role: string, losses: string[]): TextMessage[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [{ role, content: convertPlaceholders(value, losses) }]
  const messages: TextMessage[] = []
  for (const message of Array.isArray(value) ? value : [value]) {
    if (!isJsonObject(message) || (message['type'] ?? 'message') !== 'message') {
      losses.push(`An item of the input is not supported: ${JSON.stringify(message).slice(0, 200)}`)
      continue
    }
    const content = contentOf(message['content'], losses)
    if (content !== '') messages.push({ role: typeof message['role'] === 'string' ? message['role'] : role, content })
  }
  return messages
}

function contentOf(content: unknown, losses: string[]): string {
  if (typeof content === 'string') return convertPlaceholders(content, losses)
  const parts: string[] = []
  for (const part of Array.isArray(content) ? content : []) {
    if (isJsonObject(part) && typeof part['text'] === 'string') parts.push(convertPlaceholders(part['text'], losses))
    else if (isJsonObject(part) && typeof part['image_url'] === 'string') {
      parts.push(`<content-image>${convertPlaceholders(part['image_url'], losses)}</content-image>`)
    } else losses.push(`A part of a message is not supported: ${JSON.stringify(part).slice(0, 200)}`)
  }
  return parts.join('\n')
}

function defaultsOf(variables: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (!isJsonObject(variables)) return undefined
  const parameters: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string')
      parameters[variableName(name, losses)] = { type: 'text', ...(value !== '' && { default: value }) }
    else losses.push(`The value of the variable "${name}" cannot be a default`)
  }
  return Object.keys(parameters).length > 0 ? parameters : undefined
}
