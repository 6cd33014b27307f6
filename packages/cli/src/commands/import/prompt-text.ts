import { stringify } from 'yaml'

export interface TextMessage {
  role: string
  content: string
}

const ownTags = new Set(['system', 'user', 'assistant'])

export function formatFront(config: Readonly<Record<string, unknown>>): string {
  const kept = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
  return Object.keys(kept).length > 0 ? `---\n${stringify(kept, { lineWidth: 0 })}---\n\n` : ''
}

export function formatMessages(messages: readonly TextMessage[]): string {
  return messages.map(formatMessage).join('\n')
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

/** Escapes the tags, comments, expressions and backslashes of stet's language. */
export function escapeText(text: string): string {
  return text.replaceAll(meaningful, (token) => `\\${token}`)
}

const placeholder = /\{\{\s*([^{}\s][^{}]*?)\s*\}\}/g

/**
 * Converts `{{ name }}` placeholders as in Langfuse and OpenAI. Renames and reports invalid variable names, and escapes
 * all other text.
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

export interface Reference {
  target: string
  /** Maps the included prompt's variables to expressions. */
  passed: ReadonlyMap<string, string>
  /**
   * An expression for the object that contains all other variables. By default, the including prompt provides these
   * variables.
   */
  context?: string
}

/** @returns a mark. Converted text cannot contain the same tag, because its tags are escaped. */
export function markReference(reference: Reference, references: Reference[]): string {
  references.push(reference)
  return `<prompt path="${references.length - 1}" />`
}

const mark = /(?<=(?:^|[^\\])(?:\\\\)*)<prompt path="(\d+)" \/>/g

export function replaceMarks(
  text: string,
  references: readonly Reference[],
  replace: (reference: Reference) => string,
): string {
  return text.replaceAll(mark, (tag: string, number: string) => {
    const reference = references[Number(number)]
    return reference ? replace(reference) : tag
  })
}
