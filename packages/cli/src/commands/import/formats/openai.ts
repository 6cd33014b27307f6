import { isJsonObject } from '../../../settings/json-file.ts'
import type { ForeignPrompt, ReadSource } from '../imported-prompt.ts'
import type { JsonEntry } from '../json-entries.ts'
import { convertResponseFormat, convertTools, openAiKeys, takeSettings } from '../model-settings.ts'
import { convertPlaceholders, looseRule, type Naming, variableName } from '../placeholders.ts'
import { formatMessages, type TextMessage } from '../prompt-text.ts'
import { type ChatReader, convertChatMessage } from './chat-messages.ts'

const rule = looseRule('OpenAI prompts')

type Reader = ChatReader & Naming

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
  /** The versions of each prompt that has an id of OpenAI. */
  const versions = new Map<string, NumberedPrompt[]>()
  for (const [index, { value: raw, ...place }] of entries.entries()) {
    const converted = isJsonObject(raw) ? convertPrompt(raw) : 'is not an object'
    if (typeof converted === 'string') {
      read.refused.push({ path: `entry ${index + 1}`, ...place, reason: converted })
      continue
    }
    const prompt = { ...converted, ...place }
    const { id, version, is_default: isDefault } = raw as Record<string, unknown>
    if (prompt.path !== id) read.prompts.push(prompt)
    else {
      const number = /^\d{1,9}$/.test(String(version)) ? Number(version) : undefined
      versions.set(id, [...(versions.get(id) ?? []), { prompt, number, isDefault: isDefault === true }])
    }
  }
  for (const [id, found] of versions) read.prompts.push(...pathsOf(id, found))
  return read
}

interface NumberedPrompt {
  prompt: ForeignPrompt
  number: number | undefined
  isDefault: boolean
}

/**
 * Applications name a prompt by its id, and maybe by its version n. The id is therefore the path of the default version,
 * or of the newest one, and `<id>/v<n>` that of version n.
 */
function pathsOf(id: string, versions: readonly NumberedPrompt[]): ForeignPrompt[] {
  const ordered = [...versions].sort((a, b) => (b.number ?? 0) - (a.number ?? 0))
  const chosen = ordered.find(({ isDefault }) => isDefault) ?? ordered[0]
  const numbered = ordered.flatMap(({ prompt, number }) => {
    if (number === undefined) return []
    // The losses of the chosen version are reported at its first path.
    return [{ ...prompt, path: `${id}/v${number}`, losses: prompt === chosen?.prompt ? [] : prompt.losses }]
  })
  return chosen ? [chosen.prompt, ...numbered] : []
}

/** @returns the prompt, or the reason why the entry is not a prompt */
function convertPrompt(raw: Record<string, unknown>): ForeignPrompt | string {
  const { instructions, input, messages, prompt, variables, tools, text, response_format, reasoning, ...rest } = raw
  const losses: string[] = []
  const naming: Naming = { sources: new Map(), losses }
  const convertText = (text: string): string => convertPlaceholders(text, rule, naming)
  const reader: Reader = { ...naming, convertText, calls: new Map() }
  const found = [
    ...messagesOf(instructions, 'system', reader),
    ...messagesOf(input, 'user', reader),
    ...messagesOf(messages ?? (isJsonObject(prompt) ? undefined : prompt), 'user', reader),
  ]
  const name = [raw['name'], raw['id']].find((one) => typeof one === 'string' && one !== '')
  if (typeof name !== 'string') return 'has neither "name" nor "id": add one to the export'
  if (found.length === 0) return `"${name}" has no text in "instructions", "input", "messages" or "prompt"`
  const settings = Object.fromEntries(Object.entries(rest).filter(([key]) => !bookkeeping.has(key)))
  const { format = response_format, ...textSettings } = isJsonObject(text) ? text : {}
  const functions = convertTools(tools, losses)
  const { tool_choice: choice } = settings
  if (!functions && Array.isArray(tools) && tools.length > 0 && choice !== undefined && choice !== 'auto') {
    losses.push(`The setting "tool_choice" was dropped, because no tool is left: ${JSON.stringify(choice)}`)
  }
  // Without tools, these have no meaning.
  const unused = functions ? new Set<string>() : new Set(['tool_choice', 'parallel_tool_calls'])
  const used = Object.fromEntries(Object.entries(settings).filter(([key]) => !unused.has(key)))
  const front = {
    ...takeSettings(used, openAiKeys, losses),
    ...takeSettings(withPrefix('text', textSettings), openAiKeys, losses),
    ...takeSettings(withPrefix('reasoning', reasoning), openAiKeys, losses),
    tools: functions,
    schema: convertResponseFormat(format, losses),
    parameters: defaultsOf(variables, reader),
  }
  const { id } = raw
  if (typeof id !== 'string' || !id.startsWith('pmpt_'))
    return { path: name, front, text: formatMessages(found), losses }
  const titled = name === id ? front : { description: name, ...front }
  return { path: id, front: titled, text: formatMessages(found), losses }
}

function withPrefix(group: string, settings: unknown): Record<string, unknown> {
  if (!isJsonObject(settings)) return {}
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [`${group}.${key}`, value]))
}

function messagesOf(value: unknown, role: string, reader: Reader): TextMessage[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [{ role, content: reader.convertText(value) }]
  const messages = (Array.isArray(value) ? value : [value]).flatMap((message) => {
    const read = isJsonObject(message) ? asChatMessage(message) : undefined
    if (read) return [convertChatMessage(read, role, reader)]
    reader.losses.push(`An item of the input is not supported: ${JSON.stringify(message).slice(0, 200)}`)
    return []
  })
  return messages.filter(({ content, attributes }) => content !== '' || attributes?.['id'] !== undefined)
}

/** In a Responses request, tool calls and their results are items of their own. */
function asChatMessage(item: Record<string, unknown>): Record<string, unknown> | undefined {
  const { type = 'message', call_id: id, output, ...rest } = item
  if (type === 'message') return rest
  if (type === 'function_call') return { role: 'assistant', tool_calls: [item] }
  if (type === 'function_call_output') return { role: 'tool', tool_call_id: id, content: output }
  return undefined
}

function defaultsOf(variables: unknown, reader: Reader): Record<string, unknown> | undefined {
  if (!isJsonObject(variables)) return undefined
  const parameters: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string')
      parameters[variableName(name, reader)] = { type: 'text', ...(value !== '' && { default: value }) }
    else reader.losses.push(`The value of the variable "${name}" cannot be a default`)
  }
  return Object.keys(parameters).length > 0 ? parameters : undefined
}
