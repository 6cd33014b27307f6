import { posix } from 'node:path'
import { stringify } from 'yaml'

/** A message as other tools know it; the content is in the language of stet already. */
export interface TextMessage {
  role: string
  content: string
}

const ownTags = new Set(['system', 'user', 'assistant'])

/** The text of a prompt: front matter of the keys that have a value, then the messages. */
export function formatPrompt(config: Readonly<Record<string, unknown>>, messages: readonly TextMessage[]): string {
  const kept = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
  const head = Object.keys(kept).length > 0 ? `---\n${stringify(kept, { lineWidth: 0 })}---\n\n` : ''
  return head + messages.map(formatMessage).join('\n')
}

function formatMessage({ role, content }: TextMessage): string {
  const [open, close] = ownTags.has(role)
    ? [role, role]
    : [`message role="${role.replaceAll(/[^\w-]/g, '')}"`, 'message']
  return `<${open}>\n${content.trim()}\n</${close}>\n`
}

const languageTags =
  'message|system|developer|user|assistant|tool|tool-call|content|content-text|content-image|content-file|prompt|step|scope'
const meaningful = new RegExp(`\\\\|\\{\\{|/\\*|<!--|</?(?=(?:${languageTags})[\\s/>])`, 'g')

/** Text that means nothing in the language of stet: what would be a tag, a comment, an expression or an escape is escaped. */
export function escapeText(text: string): string {
  return text.replaceAll(meaningful, (token) => `\\${token}`)
}

const placeholder = /\{\{\s*([^{}\s][^{}]*?)\s*\}\}/g

/**
 * Text with `{{ name }}` placeholders, as Langfuse and OpenAI fill them in: nothing but names. Names that are no variables of the
 * language are changed, and said.
 */
export function convertPlaceholders(text: string, losses: string[]): string {
  let converted = ''
  let done = 0
  for (const match of text.matchAll(placeholder)) {
    const name = match[1] ?? ''
    converted += `${escapeText(text.slice(done, match.index))}{{ ${variableName(name, losses)} }}`
    done = match.index + match[0].length
  }
  return converted + escapeText(text.slice(done))
}

const reservedNames = new Set(
  `constructor toString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString undefined null true false this if else
  for in new function typeof void delete return var let const class import export default switch case while do break continue`.split(
    /\s+/,
  ),
)

/** A name as a variable of the language. */
export function variableName(name: string, losses: string[]): string {
  let variable = name
    .replaceAll(/[^\w$]/gu, '_')
    .replace(/^(?=\d)/, '_')
    .replace(/^__+/, '_')
  if (reservedNames.has(variable)) variable = `${variable}Value`
  const loss = `The variable "${name}" is now named "${variable}"`
  if (variable !== name && !losses.includes(loss)) losses.push(loss)
  return variable
}

/** A reference from one prompt to another, relative, so that it holds in whatever folder both are written to. */
export function referenceTo(target: string, from: string, attributes = ''): string {
  return `<prompt path="${posix.relative(posix.dirname(from), target)}"${attributes} />`
}
