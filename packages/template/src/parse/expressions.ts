import { type Options, Parser } from 'acorn'
import type { Expression } from '../syntax/nodes.ts'
import type { Cursor } from './cursor.ts'

const MAX_EXPRESSION_CHARS = 8_192
const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy
const SYNTAX: Options = { ecmaVersion: 13, sourceType: 'module' }

/** Acorn is recursive and has no limit of its own. */
const STACK_IS_FULL = 'Not enough stack space'

const RESERVED_NAMES = new Set(
  (
    'arguments as await break case catch class const continue debugger default delete do else enum eval export ' +
    'extends false finally for function if implements import in instanceof interface let new null package private ' +
    'protected public return static super switch this throw true try typeof var void while with yield'
  ).split(' '),
)

/** The methods of acorn's parser that its types omit. */
interface OpenParser {
  pos: number
  nextToken(): void
  parseExpression(): Expression
}

/** Acorn's own `parseExpressionAt` counts the lines before the expression, which is quadratic over a prompt. */
class ExpressionParser extends Parser {
  static at(text: string, offset: number): Expression {
    const parser = new ExpressionParser(SYNTAX, text) as unknown as OpenParser
    parser.pos = offset
    parser.nextToken()
    return parser.parseExpression()
  }
}

/** Moves the cursor behind the expression and the parentheses around it. */
export function readExpression(cursor: Cursor): Expression {
  const start = cursor.index
  const node = parsed(cursor)
  if (node.end - start > MAX_EXPRESSION_CHARS) {
    cursor.fail('limit-exceeded', 'The expression is longer than 8 KB', node.start)
  }
  // The node excludes the parentheses around the whole expression.
  let open = cursor.text.slice(start, node.start).split('(').length - 1
  let index = node.end
  for (; open > 0; index += 1) {
    const char = cursor.text.charAt(index)
    if (char === ')') open -= 1
    else if (!/\s/.test(char)) cursor.fail('unexpected-token', "Expected ')' but did not find it.", index)
  }
  cursor.index = index
  return node
}

function parsed(cursor: Cursor): Expression {
  try {
    return ExpressionParser.at(cursor.text, cursor.index)
  } catch (error) {
    const { message, pos } = error as Error & { pos?: number }
    if (!(error instanceof SyntaxError) || message.startsWith(STACK_IS_FULL)) {
      return cursor.fail('limit-exceeded', 'The expression is nested too deeply')
    }
    return cursor.fail('parse-error', message.replace(/ \(\d+:\d+\)$/, ''), pos)
  }
}

/** Returns undefined, without moving the cursor, if no name begins here. */
export function readName(cursor: Cursor): string | undefined {
  const name = wordAt(cursor)
  if (RESERVED_NAMES.has(name)) {
    cursor.fail('unexpected-reserved-word', `'${name}' is a reserved word in JavaScript and cannot be used here`)
  }
  cursor.index += name.length
  return name === '' ? undefined : name
}

/** Reads a whole word, so that a name may begin with a keyword, as `format` does. */
export function eatKeyword(cursor: Cursor, word: string): boolean {
  return cursor.at(word) && wordAt(cursor) === word && cursor.eat(word)
}

function wordAt({ text, index }: Cursor): string {
  NAME.lastIndex = index
  return NAME.exec(text)?.[0] ?? ''
}
