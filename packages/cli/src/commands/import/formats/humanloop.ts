import type { ForeignPrompt } from '../imported-prompt.ts'
import { convertResponseFormat, convertTools, openAiKeys, takeSettings } from '../model-settings.ts'
import { convertPlaceholders, looseRule, type Naming } from '../placeholders.ts'
import { formatAttribute, formatMessages, type TextMessage } from '../prompt-text.ts'

const rule = looseRule('Humanloop')

const message = /<(system|user|assistant|developer|tool)((?:\s[^>]*)?)>([\s\S]*?)<\/\1>/g
const part = /<image\s+url="([^"]*)"[^>]*?\/?>(?:\s*<\/image>)?|<tool\s+([^>]*)>([\s\S]*?)<\/tool>|<\/?text>/g

/**
 * Imports a Humanloop `.prompt` file: YAML settings with tools as a JSON list, and messages in `<system>`, `<user>`,
 * `<assistant>` and `<tool>`. Images are `<image url="…">` next to `<text>`; tool calls are `<tool name id>` in `<assistant>`.
 * Source: humanloop.com/docs/v5/reference/serialized-files and …/v4/prompt-file-format.
 */
export function importHumanloop(
  path: string,
  head: Readonly<Record<string, unknown>>,
  body: string,
  firstLine: number,
): ForeignPrompt {
  const losses: string[] = []
  const { endpoint, tools, response_format: format, template_language: language, ...settings } = head
  if (endpoint !== undefined && endpoint !== 'chat') losses.push(`The endpoint "${endpoint}" is not supported`)
  if (language !== undefined && language !== 'default') losses.push(...unconverted(body, String(language), firstLine))
  const front = {
    ...takeSettings(settings, openAiKeys, losses),
    tools: convertTools(tools, losses),
    schema: convertResponseFormat(format, losses),
  }
  return { path, front, text: formatMessages(messagesOf(body, losses)), losses }
}

/** Reports constructs of other template languages. The constructs stay in the text. */
function unconverted(body: string, language: string, firstLine: number): string[] {
  const found: string[] = []
  for (const [index, line] of body.split('\n').entries()) {
    for (const [construct] of line.matchAll(/\{%.*?%\}|\{#.*?#\}|\{\{[^}]*[|(][^}]*\}\}/g)) {
      found.push(`Line ${firstLine + index}: ${construct} is ${language} syntax: rewrite it in stet's`)
    }
  }
  return found.length > 0
    ? found
    : [`The template language "${language}" was dropped, because the prompt does not use it`]
}

function messagesOf(body: string, losses: string[]): TextMessage[] {
  const naming: Naming = { sources: new Map(), losses }
  const messages: TextMessage[] = []
  for (const [, role = '', attributes = '', text = ''] of withoutNestedTools(body).matchAll(message)) {
    if (role === 'tool')
      losses.push(`The tool result <tool${attributes}> was dropped: tool results belong to a conversation`)
    else messages.push({ role, content: contentOf(text.replaceAll(nestedTool, '<tool$1</tool>'), naming) })
  }
  const outside = withoutNestedTools(body).replaceAll(message, '').trim()
  if (messages.length === 0 && outside !== '')
    return [{ role: 'user', content: convertPlaceholders(outside, rule, naming) }]
  if (outside !== '') losses.push(`Text outside of messages was dropped: ${outside.slice(0, 200)}`)
  return messages
}

// Tool calls in an assistant message and tool results share a tag. The calls are renamed until the messages are split.
const nestedTool = /<nested-tool([\s\S]*?)<\/nested-tool>/g

function withoutNestedTools(body: string): string {
  return body.replaceAll(/<assistant>[\s\S]*?<\/assistant>/g, (answer) =>
    answer.replaceAll(/<tool(\s[\s\S]*?)<\/tool>/g, '<nested-tool$1</nested-tool>'),
  )
}

function contentOf(text: string, naming: Naming): string {
  let converted = ''
  let done = 0
  for (const match of text.matchAll(part)) {
    converted += convertPlaceholders(text.slice(done, match.index), rule, naming)
    const [, url, call, args = ''] = match
    if (url !== undefined) converted += `<content-image>${convertPlaceholders(url, rule, naming)}</content-image>`
    if (call !== undefined) converted += toolCall(call, args.trim())
    done = match.index + match[0].length
  }
  return converted + convertPlaceholders(text.slice(done), rule, naming)
}

function toolCall(attributes: string, args: string): string {
  const value = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
  const named = formatAttribute('id', value('id')) + formatAttribute('name', value('name'))
  return `<tool-call${named} arguments={{ ${args || '{}'} }} />`
}
