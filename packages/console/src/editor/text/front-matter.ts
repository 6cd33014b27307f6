import { lineBreakOf } from './line-ends.ts'

/** Where the YAML between the two `---` lines is. */
export interface FrontMatter {
  from: number
  to: number
}

const opening = /^\uFEFF?\s*(?:\/\*[\s\S]*?\*\/\s*|<!--[\s\S]*?-->\s*)?---/
const restOfLine = /[ \t]*(?:\r\n|\r|\n)/y
const closing = /(?:\r\n|\r|\n)\s*---/g

/**
 * Null if the text has no front matter, or one that does not end. As for the server, both lines may be indented and may
 * hold more than the three dashes.
 */
export function frontMatterOf(text: string): FrontMatter | null {
  const opened = opening.exec(text)?.[0].length
  if (opened === undefined) return null
  closing.lastIndex = opened
  const end = closing.exec(text)
  if (!end) return null
  const to = closing.lastIndex - (/[ \t]*---$/.exec(end[0])?.[0].length ?? 0)
  restOfLine.lastIndex = opened
  return { from: restOfLine.test(text) ? restOfLine.lastIndex : opened, to }
}

interface KeyLine {
  /** The line without its break. */
  from: number
  to: number
  /** The text after the colon, without a comment. */
  value: string
  valueFrom: number
  valueTo: number
}

/** The line of a key of the front matter, not of a key inside another one. */
function keyLine(text: string, key: string): KeyLine | null {
  const area = frontMatterOf(text)
  if (!area) return null
  const yaml = text.slice(area.from, area.to)
  const found = new RegExp(`^(${indentOf(yaml)}${escaped(key)}[ \\t]*:)([ \\t]*)([^\\r\\n]*)`, 'm').exec(yaml)
  if (!found) return null
  const [line, name = '', space = '', rest = ''] = found
  const from = area.from + found.index
  const value = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^#]*?(?=[ \t]+#|[ \t]*$)|)/.exec(rest)?.[0] ?? ''
  const valueFrom = from + name.length + space.length
  return { from, to: from + line.length, value, valueFrom, valueTo: valueFrom + value.length }
}

/** The value of a key that holds a plain text or number. */
export function scalarOf(text: string, key: string): string | null {
  const line = keyLine(text, key)
  if (!line) return null
  const { value } = line
  if (value.startsWith("'")) return value.slice(1, -1).replaceAll("''", "'")
  if (!value.startsWith('"')) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Sets one key of the front matter and touches no other character. Null removes its line. */
export function withScalar(text: string, key: string, value: string | null): string {
  const line = keyLine(text, key)
  if (line && value === null) return text.slice(0, line.from) + text.slice(line.to).replace(/^(?:\r\n|\r|\n)/, '')
  if (value === null) return text
  const written = /^-?\d+(\.\d+)?$/.test(value) && isNumeric(key) ? value : yamlText(value)
  if (!line) return withLines(text, [`${key}: ${written}`])
  const gap = text[line.valueFrom - 1] === ':' ? ' ' : ''
  return text.slice(0, line.valueFrom) + gap + written + text.slice(line.valueTo)
}

/** Declares a parameter, in the shape in which the others are declared. */
export function withParameter(text: string, name: string): string {
  const line = keyLine(text, 'parameters')
  const entry = `${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}: { type: text }`
  if (!line) return withLines(text, ['parameters:', `  ${entry}`])
  const { value } = line
  if (/^\{.*\}$/.test(value)) {
    const inner = value.slice(1, -1).trim()
    const flow = `{ ${inner ? `${inner.replace(/,$/, '')}, ` : ''}${entry} }`
    return text.slice(0, line.valueFrom) + flow + text.slice(line.valueTo)
  }
  if (value.startsWith('{')) return withEntry(text, line.valueFrom, entry)
  const indent = /^(?:\r\n|\r|\n)(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*([ \t]+)/.exec(text.slice(line.to))?.[1] ?? '  '
  return `${text.slice(0, line.to)}${lineBreakOf(text)}${indent}${entry}${text.slice(line.to)}`
}

/** Adds an entry to the flow map at `from`, which spans several lines. A map without an end stays as it is. */
function withEntry(text: string, from: number, entry: string): string {
  const { last, close } = endOfMap(text, from)
  if (close === undefined) return text
  const lineFrom = lineStart(text, close)
  const comma = last > from && text[last] !== ',' ? ',' : ''
  const [before, between] = [text.slice(0, last + 1) + comma, text.slice(last + 1, close)]
  if (text.slice(lineFrom, close).trim() !== '') return `${before}${between} ${entry} ${text.slice(close)}`
  const indent = /^[ \t]*/.exec(text.slice(lineStart(text, last), last + 1))?.[0] ?? ''
  const rest = text.slice(lineFrom)
  return `${before}${text.slice(last + 1, lineFrom)}${last > from ? indent : `${indent}  `}${entry}${lineBreakOf(text)}${rest}`
}

/** The last character of the map that is no space or comment, and its closing brace. */
function endOfMap(text: string, from: number): { last: number; close: number | undefined } {
  const token = /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?<=\s)#[^\r\n]*|[{}[\]]|[^\s{}[\]"'#]+|#/g
  const end = frontMatterOf(text)?.to ?? text.length
  let [depth, last] = [0, from]
  token.lastIndex = from
  for (let found = token.exec(text); found && found.index < end; found = token.exec(text)) {
    const [word] = found
    if (/^[{[]/.test(word)) depth += 1
    else if (/^[}\]]/.test(word)) depth -= 1
    if (depth === 0) return { last, close: found.index }
    if (!/^#./.test(word)) last = found.index + word.length - 1
  }
  return { last, close: undefined }
}

function lineStart(text: string, at: number): number {
  return Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1
}

/** Adds lines at the end of the front matter, and the front matter itself if there is none. */
function withLines(text: string, lines: string[]): string {
  const area = frontMatterOf(text)
  const lineBreak = lineBreakOf(text)
  const indent = area ? indentOf(text.slice(area.from, area.to)) : ''
  const added = lines.map((line) => indent + line + lineBreak).join('')
  if (area) return text.slice(0, area.to) + added + text.slice(area.to)
  return `---${lineBreak}${added}---${lineBreak}${text}`
}

/** The indentation of the outermost keys. */
function indentOf(yaml: string): string {
  return /^(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*([ \t]*)/.exec(yaml)?.[1] ?? ''
}

/** Writes a text so that YAML reads it as this text. */
function yamlText(value: string): string {
  const isPlain =
    /^[A-Za-z][\w./:@-]*[\w./@-]$|^[A-Za-z]$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value)
  return isPlain ? value : JSON.stringify(value)
}

function isNumeric(key: string): boolean {
  return /^(?:temperature|topP|topK|maxTokens|seed)$/.test(key)
}

function escaped(key: string): string {
  return key.replace(/[^\w]/g, '\\$&')
}
