import { FaultError } from '../compile-error.ts'
import type { Fragment, Tag } from '../syntax/nodes.ts'
import { readAttributes } from './attributes.ts'
import { readMustache } from './blocks.ts'
import { Cursor } from './cursor.ts'
import { OpenNodes } from './open-nodes.ts'

export interface ParsedText {
  text: string
  fragment: Fragment
  /** The offsets of step schemas that are written without braces of their own. */
  bareSchemas: number[]
}

/** All other tags are text. */
export const TAG_NAMES = [
  'message',
  'system',
  'user',
  'assistant',
  'tool',
  'content',
  'content-text',
  'content-image',
  'content-file',
  'tool-call',
  'prompt',
  'scope',
  'step',
]

const TAG = new RegExp(`</?(?:${TAG_NAMES.join('|')})(?=\\s|/?>|$)`, 'y')
const TAG_NAME_END = /[\s/>]/g
const FRONT_MATTER_MARK = '---'
/** The characters at which text may end. */
const TEXT_STOP = /[\\\-{/<]/g

interface Parsing {
  cursor: Cursor
  open: OpenNodes
  parsed: ParsedText
  /** True once the text has front matter, or content that may not precede it. */
  isBodyBegun: boolean
  config: string | undefined
}

/**
 * Line ends must be normalized.
 * @throws FaultError with an offset into the text, and with the front matter if that was read before the fault
 */
export function parseText(text: string): ParsedText {
  const fragment: Fragment = { type: 'Fragment', start: 0, end: text.length, children: [] }
  const parsing: Parsing = {
    cursor: new Cursor(text),
    open: new OpenNodes(fragment),
    parsed: { text, fragment, bareSchemas: [] },
    isBodyBegun: false,
    config: undefined,
  }
  try {
    while (!parsing.cursor.isAtEnd()) readNode(parsing)
    parsing.open.finish()
  } catch (error) {
    if (error instanceof FaultError) error.config = parsing.config
    throw error
  }
  return parsing.parsed
}

function readNode(parsing: Parsing): void {
  const { cursor } = parsing
  if (cursor.at('<!--')) readComment(parsing, '-->')
  else if (cursor.atPattern(TAG)) readTag(parsing)
  else if (cursor.at('{{') || cursor.at('}}')) {
    readMustache(cursor, parsing.open)
    parsing.isBodyBegun = true
  } else if (cursor.at('/*')) readComment(parsing, '*/')
  else if (isFrontMatter(parsing)) readFrontMatter(parsing)
  else readPlainText(parsing)
}

function readComment({ cursor, open }: Parsing, mark: string): void {
  const start = cursor.index
  // `/*/` is a whole comment.
  const end = cursor.text.indexOf(mark, mark === '*/' ? start : start + '<!--'.length)
  if (end === -1) cursor.fail('unclosed-comment', 'Unclosed comment')
  cursor.index = end + mark.length
  open.add({ type: 'Comment', start, end: cursor.index })
}

function isFrontMatter({ cursor, isBodyBegun }: Parsing): boolean {
  return !isBodyBegun && cursor.at(FRONT_MATTER_MARK) && cursor.text[cursor.index + FRONT_MATTER_MARK.length] !== '-'
}

function readFrontMatter(parsing: Parsing): void {
  const { cursor, open } = parsing
  const { text, index: start } = cursor
  const valueStart = start + FRONT_MATTER_MARK.length
  const { valueEnd, mark } = endOfFrontMatter(text, valueStart)
  if (mark === -1) {
    cursor.fail('unexpected-token', `Expected '${FRONT_MATTER_MARK}' but did not find it.`, valueStart + 1)
  }
  cursor.index = mark + FRONT_MATTER_MARK.length
  cursor.eat('\n')
  parsing.config = text.slice(valueStart, valueEnd)
  parsing.isBodyBegun = true
  open.add({ type: 'Config', start, end: cursor.index, value: parsing.config })
}

/** Finds the first mark that begins a line. White space may precede it. */
function endOfFrontMatter(text: string, start: number): { valueEnd: number; mark: number } {
  for (let mark = text.indexOf(FRONT_MATTER_MARK, start); mark !== -1; ) {
    let blanks = mark
    while (blanks > start && /\s/.test(text.charAt(blanks - 1))) blanks -= 1
    const lineEnd = text.slice(blanks, mark).indexOf('\n')
    if (lineEnd !== -1) return { valueEnd: blanks + lineEnd, mark }
    mark = text.indexOf(FRONT_MATTER_MARK, mark + 1)
  }
  return { valueEnd: -1, mark: -1 }
}

function readPlainText(parsing: Parsing): void {
  const { cursor, open } = parsing
  const start = cursor.index
  const pieces: string[] = []
  while (!cursor.isAtEnd()) {
    pieces.push(cursor.readUntil(TEXT_STOP))
    if (cursor.isAtEnd() || isEndOfText(parsing)) break
    pieces.push(readStopCharacter(cursor))
  }
  const data = pieces.join('')
  if (data.trim() !== '') parsing.isBodyBegun = true
  open.add({ type: 'Text', start, end: cursor.index, data })
}

function isEndOfText(parsing: Parsing): boolean {
  const { cursor } = parsing
  if (cursor.at('\\')) return false
  return isFrontMatter(parsing) || cursor.at('{{') || cursor.at('/*') || cursor.at('<!--') || cursor.atPattern(TAG)
}

/** Reads an escaped character, a run of dashes, or a character that begins nothing here. */
function readStopCharacter(cursor: Cursor): string {
  const isEscaped = cursor.eat('\\')
  const start = cursor.index
  const isDash = !isEscaped && cursor.at('-')
  cursor.index = Math.min(start + 1, cursor.text.length)
  // The last dashes of a run of four or more are no front matter.
  while (isDash && cursor.eat('-'));
  return cursor.text.slice(start, cursor.index)
}

function readTag(parsing: Parsing): void {
  const { cursor, open, parsed } = parsing
  const start = cursor.index
  cursor.index += 1
  const isClosing = cursor.eat('/')
  const name = cursor.readUntil(TAG_NAME_END)
  cursor.skipBlanks()
  if (isClosing) {
    cursor.need('>')
    open.closeTag(name, start, cursor)
    return
  }
  const { attributes, bareSchema } = readAttributes(cursor, name)
  const isEmpty = cursor.eat('/')
  cursor.need('>')
  const tag: Tag = { type: 'ElementTag', name, start, end: cursor.index, attributes, children: [] }
  if (bareSchema !== undefined) parsed.bareSchemas.push(bareSchema)
  open.add(tag)
  if (!isEmpty) open.open(tag, tag.children, cursor.index)
  parsing.isBodyBegun = true
}
