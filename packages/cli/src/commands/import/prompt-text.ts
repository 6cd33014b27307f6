import { stringify } from 'yaml'

export interface TextMessage {
  role: string
  content: string
  attributes?: Readonly<Record<string, string>>
}

const ownTags = new Set(['system', 'user', 'assistant', 'tool'])

export function formatFront(config: Readonly<Record<string, unknown>>): string {
  const kept = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
  return Object.keys(kept).length > 0 ? `---\n${stringify(kept, { lineWidth: 0 })}---\n\n` : ''
}

export function formatMessages(messages: readonly TextMessage[]): string {
  return messages.map(formatMessage).join('\n')
}

function formatMessage({ role, content, attributes = {} }: TextMessage): string {
  const tag = ownTags.has(role) ? role : 'message'
  const all = tag === 'message' ? { role: role.replaceAll(/[^\w-]/g, ''), ...attributes } : attributes
  const shown = Object.entries(all).map(([name, value]) => formatAttribute(name, value))
  // The first line keeps its indentation, because the engine removes what all lines have in common.
  const text = content.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
  return `<${tag}${shown.join('')}>\n${text}\n</${tag}>\n`
}

const languageTags =
  'message|system|developer|user|assistant|tool|tool-call|content|content-text|content-image|content-file|prompt|step|scope'
// Text may stand beside a tag. There, the engine would read `{{{` as an object, and `}}` as the end of an expression.
const braces = String.raw`\{(?=\{|\s*$)|(?<=\{)\{|(?<=^\s*)\}(?=\})`
const meaningful = new RegExp(String.raw`\\|${braces}|/\*|<!--|</?(?=(?:${languageTags})(?:[\s/>]|$))`, 'g')

/** Escapes the tags, comments, expressions and backslashes of stet's language. */
export function escapeText(text: string): string {
  return text.replaceAll(meaningful, (token) => `\\${token}`)
}

export function print(expression: string): string {
  return `{{ ${expression} }}`
}

/** Formats the member of an object. A missing object has no members, as in other template languages. */
export function member(object: string, key: string): string {
  return `${object}?.${/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? key : `[${JSON.stringify(key)}]`}`
}

/** Formats an attribute. An expression can contain every character; `<` is escaped, so that no tag can begin in it. */
export function formatAttribute(name: string, value: string): string {
  return ` ${name}=${/^[\p{L}\p{N}_.:/ -]*$/u.test(value) ? `"${value}"` : `{{ ${formatJson(value)} }}`}`
}

/** Formats JSON as an expression. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
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
