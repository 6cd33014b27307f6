import { isJsonObject } from '../../../settings/json-file.ts'
import { convertResponseFormat, convertTools } from '../function-tools.ts'
import type { ImportedPrompt } from '../imported-prompt.ts'
import { openAiKeys, takeSettings } from '../model-settings.ts'
import { convertPlaceholders, formatPrompt, type TextMessage } from '../prompt-text.ts'

// Set by the service on what it stores; they say nothing about the prompt.
const bookkeeping = new Set(
  'id object name version created_at updated_at createdAt updatedAt is_default status store stream metadata'.split(' '),
)

/**
 * Reusable prompts of the OpenAI platform, as JSON: one object, a list, or `{ data: […] }`. OpenAI has no call that exports them; what
 * is copied out of its dashboard has the fields of a Responses request: `model`, `instructions`, `input` (or `messages`) with
 * `{{variable}}` in any text, `tools`, `text.format`, `reasoning`. Sources: developers.openai.com/api/docs/guides/prompting,
 * …/prompting/migrate-from-prompt-object, and the prompt reference (`id`, `version`, `variables`) of the API's schema.
 */
export function importOpenAi(value: unknown): ImportedPrompt[] {
  const list = isJsonObject(value) && Array.isArray(value['data']) ? value['data'] : value
  const prompts = (Array.isArray(list) ? list : [list]).filter(isJsonObject).map(convertPrompt)
  return prompts.filter((prompt) => prompt !== undefined)
}

function convertPrompt(raw: Record<string, unknown>): ImportedPrompt | undefined {
  const { instructions, input, messages, prompt, variables, tools, text, response_format, reasoning, ...rest } = raw
  const losses: string[] = []
  const found = [
    ...messagesOf(instructions, 'system', losses),
    ...messagesOf(input, 'user', losses),
    ...messagesOf(messages ?? (isJsonObject(prompt) ? undefined : prompt), 'user', losses),
  ]
  const name = [raw['name'], raw['id']].find((one) => typeof one === 'string' && one !== '')
  if (found.length === 0 || typeof name !== 'string') return undefined
  const settings = Object.fromEntries(Object.entries(rest).filter(([key]) => !bookkeeping.has(key)))
  const format = isJsonObject(text) ? text['format'] : response_format
  const config = {
    ...takeSettings(settings, openAiKeys, losses),
    ...(isJsonObject(reasoning) && { reasoningEffort: reasoning['effort'] ?? undefined }),
    tools: convertTools(tools, losses),
    schema: convertResponseFormat(format, losses),
    parameters: defaultsOf(variables, losses),
  }
  return { path: name, content: formatPrompt(config, found), losses }
}

function messagesOf(value: unknown, role: string, losses: string[]): TextMessage[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [{ role, content: convertPlaceholders(value, losses) }]
  const messages: TextMessage[] = []
  for (const message of Array.isArray(value) ? value : [value]) {
    if (!isJsonObject(message) || (message['type'] ?? 'message') !== 'message') {
      losses.push(`An item of the input has no counterpart: ${JSON.stringify(message).slice(0, 200)}`)
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
    } else losses.push(`A part of a message has no counterpart: ${JSON.stringify(part).slice(0, 200)}`)
  }
  return parts.join('\n')
}

function defaultsOf(variables: unknown, losses: string[]): Record<string, unknown> | undefined {
  if (!isJsonObject(variables)) return undefined
  const parameters: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string') parameters[name] = { type: 'text', ...(value !== '' && { default: value }) }
    else losses.push(`The value of the variable "${name}" has no counterpart as a default`)
  }
  return Object.keys(parameters).length > 0 ? parameters : undefined
}
