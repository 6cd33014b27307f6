/** Parses the part of Go's template language that deploy/helm uses. Anything else is an error. */

export type Expression =
  | { kind: 'literal'; value: unknown }
  | { kind: 'path'; from: string; keys: string[] }
  | { kind: 'call'; name: string; args: Expression[] }

export type Node =
  | { kind: 'text'; text: string }
  | { kind: 'output'; value: Expression }
  | { kind: 'if'; condition: Expression; then: Node[]; otherwise: Node[] }
  | { kind: 'range'; key: string; value: string; over: Expression; body: Node[] }
  | { kind: 'define'; name: string; body: Node[] }

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|-?\d+(?=[\s)|]|$)|\$?[A-Za-z]\w*|\$|(?:\.[A-Za-z]\w*)+|\.|[()|])/y

export function parseTemplate(text: string): Node[] {
  const pieces = split(text)
  const nodes = parseNodes(pieces, [])
  if (pieces.length > 0) throw new Error(`{{ ${pieces[0]?.action} }} closes nothing`)
  return nodes
}

interface Piece {
  text?: string
  action?: string
}

/** Separates text from actions. `{{-` and `-}}` remove the white space beside them. */
function split(text: string): Piece[] {
  const parts = text.split(/(\{\{-? ?[\s\S]*? ?-?\}\})/)
  return parts.flatMap((part, at): Piece[] => {
    if (at % 2 === 1) return [{ action: part.replace(/^\{\{-?\s*|\s*-?\}\}$/g, '') }]
    let trimmed = part
    if (parts[at - 1]?.endsWith('-}}')) trimmed = trimmed.trimStart()
    if (parts[at + 1]?.startsWith('{{-')) trimmed = trimmed.trimEnd()
    return trimmed === '' ? [] : [{ text: trimmed }]
  })
}

function parseNodes(pieces: Piece[], ends: readonly string[]): Node[] {
  const nodes: Node[] = []
  for (let piece = pieces[0]; piece !== undefined; piece = pieces[0]) {
    const { text, action = '' } = piece
    if (ends.includes(action.split(' ')[0] ?? '')) return nodes
    pieces.shift()
    if (text !== undefined) nodes.push({ kind: 'text', text })
    else if (!action.startsWith('/*')) nodes.push(parseAction(action, pieces))
  }
  if (ends.length > 0) throw new Error(`{{ ${ends.join(' }} or {{ ')} }} is missing`)
  return nodes
}

function parseAction(action: string, pieces: Piece[]): Node {
  const [, keyword = '', rest = ''] = /^(if|range|define)\s+([\s\S]*)$/.exec(action) ?? []
  if (keyword === 'if') return parseIf(rest, pieces)
  if (keyword === 'range') {
    const [, key, value, over] = /^(\$\w+), (\$\w+) := (.*)$/.exec(rest) ?? []
    if (key === undefined || value === undefined || over === undefined)
      throw new Error(`{{ ${action} }} is not supported`)
    return { kind: 'range', key, value, over: parseExpression(over), body: parseBody(pieces) }
  }
  if (keyword === 'define') return { kind: 'define', name: JSON.parse(rest), body: parseBody(pieces) }
  return { kind: 'output', value: parseExpression(action) }
}

function parseBody(pieces: Piece[]): Node[] {
  const body = parseNodes(pieces, ['end'])
  pieces.shift()
  return body
}

function parseIf(condition: string, pieces: Piece[]): Node {
  const then = parseNodes(pieces, ['else', 'end'])
  const closing = pieces.shift()?.action ?? ''
  const parsed = { kind: 'if', condition: parseExpression(condition), then } as const
  if (closing === 'end') return { ...parsed, otherwise: [] }
  if (closing === 'else') return { ...parsed, otherwise: parseBody(pieces) }
  return { ...parsed, otherwise: [parseIf(closing.replace(/^else if /, ''), pieces)] }
}

function parseExpression(text: string): Expression {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex
    const [, token] = TOKEN.exec(text) ?? []
    if (token === undefined) throw new Error(`{{ ${text} }} is not supported at ${text.slice(start)}`)
    tokens.push(token)
  }
  const expression = parsePipeline(tokens)
  if (tokens.length > 0) throw new Error(`{{ ${text} }} has an unexpected ${tokens[0]}`)
  return expression
}

/** In `a | f b`, the value of `a` is the last argument of `f`. */
function parsePipeline(tokens: string[]): Expression {
  let piped = parseCommand(tokens)
  while (tokens[0] === '|') {
    tokens.shift()
    const next = parseCommand(tokens)
    if (next.kind !== 'call') throw new Error('a value is piped into something that is not a function')
    piped = { ...next, args: [...next.args, piped] }
  }
  return piped
}

function parseCommand(tokens: string[]): Expression {
  const first = tokens[0] ?? ''
  if (!/^[a-z]/i.test(first)) return parseOperand(tokens)
  tokens.shift()
  const args: Expression[] = []
  while (tokens.length > 0 && tokens[0] !== '|' && tokens[0] !== ')') args.push(parseOperand(tokens))
  return { kind: 'call', name: first, args }
}

function parseOperand(tokens: string[]): Expression {
  const token = tokens.shift() ?? ''
  if (token === '(') {
    const inner = parsePipeline(tokens)
    if (tokens.shift() !== ')') throw new Error('a parenthesis is not closed')
    return inner
  }
  if (token.startsWith('"')) return { kind: 'literal', value: JSON.parse(token) }
  if (/^-?\d/.test(token)) return { kind: 'literal', value: Number(token) }
  if (token.startsWith('$')) return { kind: 'path', from: token, keys: [] }
  if (token.startsWith('.')) return { kind: 'path', from: '.', keys: token.split('.').filter((key) => key !== '') }
  if (/^[a-z]/i.test(token)) return { kind: 'call', name: token, args: [] }
  throw new Error(`unexpected ${token}`)
}
