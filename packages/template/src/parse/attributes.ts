import { decodeHTMLAttribute } from 'entities/decode'
import { FaultError } from '../compile-error.ts'
import type { Attribute } from '../syntax/nodes.ts'
import type { Cursor } from './cursor.ts'
import { readExpression } from './expressions.ts'

type ValuePart = Exclude<Attribute['value'], true>[number]

const NAME_END = /[\s=/>"']/g
/** The ends of a value or of its literal text, by quotation mark. */
const VALUE_STOPS: Readonly<Record<string, RegExp>> = {
  '"': /"|\{\{/g,
  "'": /'|\{\{/g,
  '': /\/>|[\s"'=<>`]|\{\{/g,
}
/** No expression starts with a name and a colon, so this is an object without braces of its own. */
const BARE_OBJECT = /\{\{(?=\s*(?:[A-Za-z_$][\w$]*|"[^"\n]*"|'[^'\n]*')\s*:)/y

export interface ReadAttributes {
  attributes: Attribute[]
  /** The offset of the object that is written without braces of its own, as in `<step schema={{ type: "object" }}>`. */
  bareSchema: number | undefined
}

export function readAttributes(cursor: Cursor, tag: string): ReadAttributes {
  const read: ReadAttributes = { attributes: [], bareSchema: undefined }
  const names = new Set<string>()
  for (;;) {
    const start = cursor.index
    const name = cursor.readUntil(NAME_END)
    if (name === '') return read
    const isSchema = tag === 'step' && name === 'schema'
    const { value, end, bareObject } = readValueOf(cursor, isSchema)
    if (names.has(name)) cursor.fail('duplicate-attribute', 'Attributes need to be unique', start)
    names.add(name)
    read.bareSchema ??= bareObject
    read.attributes.push({ type: 'Attribute', name, value, start, end })
    cursor.skipBlanks()
  }
}

interface ReadValue {
  value: Attribute['value']
  end: number
  bareObject?: number | undefined
}

function readValueOf(cursor: Cursor, isSchema: boolean): ReadValue {
  const nameEnd = cursor.index
  cursor.skipBlanks()
  if (!cursor.eat('=')) {
    if (cursor.at('"') || cursor.at("'")) cursor.fail('unexpected-token', "Expected '=' but did not find it.")
    return { value: true, end: nameEnd }
  }
  cursor.skipBlanks()
  const bareObject = isSchema && cursor.atPattern(BARE_OBJECT) ? cursor.index + 2 : undefined
  const value = bareObject === undefined ? readParts(cursor) : [readBareObject(cursor)]
  return { value, end: cursor.index, bareObject }
}

/** Reads the second brace of `{{` as the beginning of the object. */
function readBareObject(cursor: Cursor): ValuePart {
  const start = cursor.index
  cursor.index += 1
  const expression = readExpression(cursor)
  cursor.need('}')
  return { type: 'MustacheTag', start, end: cursor.index, expression }
}

function readParts(cursor: Cursor): ValuePart[] {
  const quote = cursor.eat("'") ? "'" : cursor.eat('"') ? '"' : ''
  const parts: ValuePart[] = []
  const stop = VALUE_STOPS[quote] as RegExp
  for (;;) {
    const start = cursor.index
    const raw = cursor.readUntil(stop)
    const isEmptyText = quote !== '' && parts.length === 0 && cursor.at(quote)
    if (raw !== '' || isEmptyText) {
      parts.push({ type: 'Text', start, end: cursor.index, data: decodeHTMLAttribute(raw) })
    }
    if (cursor.isAtEnd()) cursor.fail('unexpected-eof', 'Unexpected end of input')
    if (!cursor.at('{{')) break
    parts.push(readInserted(cursor, quote))
  }
  if (parts.length === 0) cursor.fail('missing-attribute-value', 'Expected value for the attribute')
  cursor.index += quote.length
  return parts
}

function readInserted(cursor: Cursor, quote: string): ValuePart {
  const start = cursor.index
  cursor.index += 2
  if (cursor.at('#')) {
    const block = /^#[a-z]*/.exec(cursor.text.slice(cursor.index, cursor.index + 30))?.[0]
    cursor.fail('invalid-logic-block-placement', `{{${block}}} block cannot be in attribute value`, cursor.index - 1)
  }
  cursor.skipBlanks()
  const expression = readValueExpression(cursor, quote)
  cursor.skipBlanks()
  cursor.need('}}')
  return { type: 'MustacheTag', start, end: cursor.index, expression }
}

function readValueExpression(cursor: Cursor, quote: string) {
  try {
    return readExpression(cursor)
  } catch (error) {
    if (error instanceof FaultError && error.fault.code === 'parse-error') {
      const { start } = error.fault
      if (cursor.text.slice(start - 1, start + 1) === '/>') {
        const message = `Expected to close the attribute value with ${quote || '}}'}`
        cursor.fail('unclosed-attribute-value', message, start)
      }
    }
    throw error
  }
}
