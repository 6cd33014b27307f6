import { isJsonObject } from '../../../settings/json-file.ts'
import { escapeText, formatAttribute, formatJson, type TextMessage } from '../prompt-text.ts'

export interface ChatReader {
  convertText(text: string): string
  losses: string[]
  /** Maps the ids of tool calls to the names of their tools. Tool results have only the id. */
  calls: Map<string, string>
}

/** Keys without a meaning for the model. */
const ignoredKeys = new Set(['type', 'id', 'object', 'status', 'created_at', 'annotations'])

/**
 * Converts a message of chat completions, the Responses API or Langfuse's playground: its text and other parts, tool calls
 * (`tool_calls` or `toolCalls`), and the `tool_call_id` or `toolCallId` of a tool result. Reports everything else.
 */
export function convertChatMessage(
  message: Record<string, unknown>,
  defaultRole: string,
  reader: ChatReader,
): TextMessage {
  const {
    role = defaultRole,
    content,
    name,
    tool_calls: openAiCalls,
    toolCalls = openAiCalls,
    tool_call_id: openAiId,
    toolCallId = openAiId,
    ...others
  } = message
  reportOthers(others, 'message', reader.losses)
  const calls = (Array.isArray(toolCalls) ? toolCalls : []).map((call) => formatToolCall(call, reader))
  const text = [...contentOf(content, reader), ...calls].filter((part) => part !== '').join('\n')
  return { role: roleOf(role, reader), content: text, attributes: attributesOf(name, toolCallId, reader) }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

/** A prompt with any other role does not compile. */
const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function roleOf(role: unknown, { losses }: ChatReader): string {
  if (role === 'model') return 'assistant'
  if (typeof role === 'string' && roles.has(role)) return role
  losses.push(`The role ${JSON.stringify(role).slice(0, 200)} does not exist in stet: now it has the role user`)
  return 'user'
}

function attributesOf(name: unknown, id: unknown, { calls, losses }: ChatReader): Record<string, string> {
  if (typeof id !== 'string') return typeof name === 'string' && name !== '' ? { name } : {}
  const tool = calls.get(id) ?? name
  if (typeof tool === 'string' && tool !== '') return { id, name: tool }
  losses.push(`The tool result "${id}" has no tool call before it: its tool is now named "unknown"`)
  return { id, name: 'unknown' }
}

function formatToolCall(call: unknown, { calls, losses }: ChatReader): string {
  const { function: own, ...outer }: Record<string, unknown> = isJsonObject(call) ? call : {}
  const { name, arguments: given, args = given }: Record<string, unknown> = isJsonObject(own) ? own : outer
  const id = outer['call_id'] ?? outer['id']
  if (typeof id !== 'string' || typeof name !== 'string') {
    losses.push(`A tool call is not supported: ${JSON.stringify(call).slice(0, 200)}`)
    return ''
  }
  calls.set(id, name)
  const values = typeof args === 'string' ? parsed(args) : args
  const isKept = isJsonObject(values)
  if (!isKept && !isEmpty(args)) {
    const shown = JSON.stringify(args).slice(0, 200)
    losses.push(`The arguments of the tool call "${id}" are not a JSON object and were dropped: ${shown}`)
  }
  const attributes = formatAttribute('id', id) + formatAttribute('name', name)
  return `<tool-call${attributes} arguments={{ ${formatJson(isKept ? values : {})} }} />`
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function contentOf(content: unknown, reader: ChatReader): string[] {
  if (typeof content === 'string') return [reader.convertText(content)]
  return (Array.isArray(content) ? content : isEmpty(content) ? [] : [content]).map((part) => formatPart(part, reader))
}

function formatPart(part: unknown, { convertText, losses }: ChatReader): string {
  const { type, text, image_url: image, detail, file_data: data, filename, ...others } = isJsonObject(part) ? part : {}
  const given = isJsonObject(image) ? image : { url: image, detail }
  const [, mime] = typeof data === 'string' ? (/^data:([\w.+/-]+)[;,]/.exec(data) ?? []) : []
  const attribute = (name: string, value: unknown): string =>
    typeof value === 'string' ? formatAttribute(name, value) : ''
  let converted: string
  if (typeof text === 'string') converted = convertText(text)
  else if (typeof given['url'] === 'string') {
    converted = `<content-image${attribute('detail', given['detail'])}>${convertText(given['url'])}</content-image>`
  } else if (type === 'input_file' && mime !== undefined) {
    converted = `<content-file mime="${mime}"${attribute('name', filename)}>${escapeText(String(data))}</content-file>`
  } else {
    losses.push(`A part of a message is not supported: ${JSON.stringify(part).slice(0, 200)}`)
    return ''
  }
  reportOthers(others, 'part', losses)
  return converted
}

function reportOthers(others: Readonly<Record<string, unknown>>, place: string, losses: string[]): void {
  for (const [key, value] of Object.entries(others)) {
    if (ignoredKeys.has(key) || isEmpty(value)) continue
    losses.push(`The key "${key}" of a ${place} is not supported: ${JSON.stringify(value).slice(0, 200)}`)
  }
}
