import { type AST, parseWithoutProcessing } from '@handlebars/parser'

/** TypeScript can narrow this union by `type`, unlike the parser's own types. */
export type Value = AST.PathExpression | AST.StringLiteral | AST.NumberLiteral | AST.BooleanLiteral | Nothing

interface Nothing extends AST.Expression {
  type: 'NullLiteral' | 'UndefinedLiteral'
}

export interface Call {
  callee: Value
  args: readonly Value[]
  named: ReadonlyMap<string, Value>
  blockParams: readonly string[]
}

export type Tag =
  /** An escaped tag or an escaped backslash. */
  | { kind: 'text'; text: string }
  | { kind: 'comment' }
  /** `{{^name}}` opens an inverted block. A block without a `call` cannot be converted. */
  | { kind: 'open'; name: string; isInverted: boolean; call: Call | undefined }
  | { kind: 'close'; name: string }
  | { kind: 'else' }
  | { kind: 'else-block'; name: string; call: Call }
  | { kind: 'partial'; call: Call }
  | { kind: 'value'; call: Call }
  | { kind: 'unknown' }

const inside = String.raw`(?:"(?:\\"|\\(?!")|[^"\\\n])*"|'(?:\\'|\\(?!')|[^'\\\n])*'|[^"'{}]|\{(?!\{)|\}(?!\}))*`
const tag = new RegExp(
  [
    String.raw`\\\\(?=\{\{)`,
    String.raw`\{\{\{\{[^{}/]*\}\}\}\}[\s\S]*?\{\{\{\{/[^{}]*\}\}\}\}`,
    String.raw`\\?\{\{~?!--[\s\S]*?--~?\}\}`,
    String.raw`\\?\{\{~?![^{}]*\}\}`,
    String.raw`\\?\{\{\{${inside}\}\}\}`,
    String.raw`\\?\{\{${inside}\}\}`,
    // Matches a tag with an unclosed quote.
    String.raw`\\?\{\{[^{}]*\}\}`,
  ].join('|'),
  'g',
)

export function* splitTags(template: string): Generator<{ before: string; source: string }> {
  let done = 0
  for (const { 0: source, index } of template.matchAll(tag)) {
    yield { before: template.slice(done, index), source }
    done = index + source.length
  }
  yield { before: template.slice(done), source: '' }
}

/** Parses one tag alone. The parser has no error recovery, so one broken tag would lose the whole template. */
export function readTag(source: string): Tag {
  if (source.startsWith('\\')) return { kind: 'text', text: source.slice(1) }
  if (source.startsWith('{{{{')) return { kind: 'unknown' }
  const [, sigil = '', name = ''] = /^\{{2,3}~?\s*(!|\/|#|\^|>|else(?=[\s~}]))?\s*([^\s~{}]*)/.exec(source) ?? []
  switch (sigil) {
    case '!':
      return { kind: 'comment' }
    case '/':
      return { kind: 'close', name }
    case '#':
    case '^': {
      if (name === '') return { kind: 'else' }
      return { kind: 'open', name, isInverted: sigil === '^', call: readCall(`${source}{{/${name}}}`) }
    }
    case 'else': {
      if (name === '') return { kind: 'else' }
      const call = readCall(`${source.replace(/else\s+/, '#')}{{/${name}}}`)
      return call ? { kind: 'else-block', name, call } : { kind: 'unknown' }
    }
    default: {
      const call = readCall(source)
      return call ? { kind: sigil === '>' ? 'partial' : 'value', call } : { kind: 'unknown' }
    }
  }
}

interface Statement extends AST.Node {
  path?: AST.Expression
  /** A partial has a `name` instead of a `path`. */
  name?: AST.Expression
  params?: AST.Expression[]
  hash?: AST.Hash
  program?: AST.Program
}

/** Returns undefined for an invalid tag and for subexpressions, which stet's language does not support. */
function readCall(source: string): Call | undefined {
  let statement: Statement | undefined
  try {
    statement = parseWithoutProcessing(source).body[0]
  } catch {
    return undefined
  }
  const callee = statement?.path ?? statement?.name
  if (!statement || !callee) return undefined
  const { params = [], hash, program } = statement
  const pairs = hash?.pairs ?? []
  if (![callee, ...params, ...pairs.map(({ value }) => value)].every(isValue)) return undefined
  return {
    callee: callee as Value,
    args: params as Value[],
    named: new Map(pairs.map(({ key, value }) => [key, value as Value])),
    blockParams: program?.blockParams ?? [],
  }
}

function isValue(expression: AST.Expression): expression is Value {
  if (expression.type === 'SubExpression') return false
  const { parts = [] } = expression as Partial<AST.PathExpression>
  return parts.every((part) => typeof part === 'string')
}
