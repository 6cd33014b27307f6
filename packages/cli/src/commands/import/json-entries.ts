import { CliError } from '../../exit-code.ts'
import { isJsonObject } from '../../settings/json-file.ts'

export interface JsonEntry {
  value: unknown
  /** Absent for entries of an API. */
  line?: number
}

/** Parses JSON. The entries are the top-level list, the list under one of `keys`, or the whole value as one entry. */
export function parseEntries(text: string, file: string, keys: readonly string[]): JsonEntry[] {
  const plain = text.replace(/^\uFEFF/, '')
  const value = parse(plain, file)
  if (Array.isArray(value)) return withLines(value, plain, undefined)
  const key = isJsonObject(value) ? keys.find((one) => value[one] !== undefined && value[one] !== null) : undefined
  const list = key !== undefined && isJsonObject(value) ? value[key] : undefined
  if (Array.isArray(list)) return withLines(list, plain, key)
  return [{ value, line: lineAt(plain, plain.search(/\S/)) }]
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Only some Node versions report a line, and only for some errors.
    const place = / line \d/.test(error.message) ? '' : ` (line ${lineOf(error, text)})`
    throw new CliError('invalid', `${file}: not JSON: ${error.message}${place}`)
  }
}

function lineOf({ message }: SyntaxError, text: string): number {
  const [, position] = /at position (\d+)/.exec(message) ?? []
  if (position !== undefined) return lineAt(text, Number(position))
  const lines = text.trimEnd().split('\n')
  // Finds the first line whose prefix contains a wrong token. Every shorter prefix is only incomplete.
  let [fine, broken] = message.startsWith('Unexpected token') ? [0, lines.length] : [lines.length - 1, lines.length]
  while (broken - fine > 1) {
    const middle = Math.floor((fine + broken) / 2)
    if (hasWrongToken(lines.slice(0, middle).join('\n'))) broken = middle
    else fine = middle
  }
  return broken
}

function hasWrongToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return error instanceof SyntaxError && error.message.startsWith('Unexpected token')
  }
}

function lineAt(text: string, end: number): number {
  return text.slice(0, Math.max(end, 0)).split('\n').length
}

function withLines(list: readonly unknown[], text: string, key: string | undefined): JsonEntry[] {
  const lines = linesOfMembers(text, key)
  return list.map((value, index) => ({ value, line: lines[index] ?? 1 }))
}

// JSON strings contain no raw line breaks, so a line break is always a separate token.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,\n]|[^\s"[\]{}:,]+/g

/** Returns the first line of each member of the outermost list, or of the list under a top-level key. */
function linesOfMembers(text: string, wanted: string | undefined): number[] {
  const listLevel = wanted === undefined ? 1 : 2
  let lines: number[] = []
  let [line, level, isInList, isExpected] = [1, 0, false, false]
  let [lastText, key]: (string | undefined)[] = []
  for (const [one] of text.matchAll(token)) {
    if (one === '\n') {
      line += 1
      continue
    }
    const isEnd = one === ']' || one === '}'
    if (isInList && level === listLevel && isExpected && !isEnd) {
      lines.push(line)
      isExpected = false
    }
    if (isEnd) {
      level -= 1
      if (level < listLevel) isInList = false
    } else if (one === '[' || one === '{') {
      level += 1
      if (one === '[' && level === listLevel && key === wanted) {
        // If a key repeats, the last one wins, as in JSON.parse.
        lines = []
        isInList = true
        isExpected = true
      }
    } else if (one === ',') {
      if (level === listLevel) isExpected = true
    } else if (one === ':') {
      if (level === 1) key = lastText
    } else if (level === 1 && one.startsWith('"')) lastText = JSON.parse(one)
  }
  return lines
}
