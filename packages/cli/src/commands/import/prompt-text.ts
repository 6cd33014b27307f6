import { stringify } from 'yaml'

/** A message of another tool; its content is already converted. */
export interface TextMessage {
  role: string
  content: string
}

const ownTags = new Set(['system', 'user', 'assistant'])

/** The front matter, without keys that have no value. */
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

/** Literal text: escapes tags, comments, expressions and escapes. */
export function escapeText(text: string): string {
  return text.replaceAll(meaningful, (token) => `\\${token}`)
}

const placeholder = /\{\{\s*([^{}\s][^{}]*?)\s*\}\}/g

/**
 * Text with `{{ name }}` placeholders, as Langfuse and OpenAI fill them in: names only. Names that are not valid variables are
 * renamed and reported.
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

/** A name as a valid variable. */
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
  /** The other tool's name. */
  target: string
  /** Expressions, by the names under which the included prompt receives their values. */
  passed: ReadonlyMap<string, string>
  /** An expression for the object with all further variables; without it, they come from the including prompt. */
  context?: string
}

/** Adds a reference. @returns its mark for the text, which looks like no other tag in converted text */
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
