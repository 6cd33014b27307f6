import { type AST, parse } from '@handlebars/parser'
import { CliError } from '../../../exit-code.ts'
import { variableName } from '../placeholders.ts'
import { escapeText, markReference, print, type TextMessage } from '../prompt-text.ts'
import {
  drop,
  type FindPartial,
  loopVariable,
  lose,
  note,
  noteType,
  openingTag,
  type State,
  sourceOf,
} from './handlebars-state.ts'
import {
  absenceOf,
  hasType,
  isNamed,
  itemOf,
  type Schema,
  type Scope,
  translate,
  translateLookup,
  truthOf,
  type Value,
} from './handlebars-values.ts'

const maxInlines = 200

type Block = AST.BlockStatement & { program?: AST.Program; inverse?: AST.Program & { chained?: boolean } }

/** The prefix of references to partials: a prompt may have the same name. */
export const partialPrefix = '>'

/**
 * Converts a Handlebars template with dotprompt's helpers to messages. The parser already applies Handlebars' rules for
 * white space: blocks on a line of their own leave no line, and `~` removes what is next to it. Everything without an
 * equivalent is reported and stays as text.
 * @throws CliError if the template does not parse
 */
export function convertHandlebars(
  template: string,
  options: { isPartial: boolean; firstLine: number; input: Schema | undefined; findPartial: FindPartial },
  losses: string[],
): Pick<State, 'messages' | 'references' | 'types' | 'sources'> {
  const { isPartial, firstLine, input, findPartial } = options
  const state: State = {
    messages: [{ role: 'user', content: '' }],
    source: template.split('\n'),
    line: firstLine,
    isPartial,
    blocks: 0,
    findPartial,
    inlined: [],
    inlines: maxInlines,
    references: [],
    words: new Set(template.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu)),
    scopes: [{}],
    input,
    types: new Map(),
    unknownLists: new Set(),
    sources: new Map(),
    losses,
  }
  convertBody(state, parseTemplate(template, firstLine))
  const { messages, references, types, sources } = state
  return { messages: messages.filter(({ content }) => content.trim() !== ''), references, types, sources }
}

function parseTemplate(template: string, firstLine: number): AST.Program {
  try {
    return parse(template)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const [, line = '1'] = / line (\d+)/.exec(error.message) ?? /(\d+):\d+$/.exec(error.message) ?? []
    const [reason = ''] = error.message.split('\n').slice(-1)
    throw new CliError('invalid', `not a Handlebars template, line ${Number(line) + firstLine - 1}: ${reason}`)
  }
}

function convertBody(state: State, { body }: AST.Program): void {
  for (const [index, statement] of body.entries()) {
    if (statement.type !== 'ContentStatement') write(state, convertStatement(state, statement))
    // An escaped tag splits a text. Its braces must be escaped together.
    else if (body[index - 1]?.type !== 'ContentStatement') write(state, escapeText(textFrom(body, index)))
  }
}

function textFrom(body: readonly AST.Statement[], start: number): string {
  const texts = body.slice(start).map((one) => (one.type === 'ContentStatement' ? one : undefined))
  const end = texts.indexOf(undefined)
  const run = (end === -1 ? texts : texts.slice(0, end)) as AST.ContentStatement[]
  return run.map(({ value }) => value).join('')
}

function write({ messages }: State, text: string): void {
  const last = messages.at(-1)
  if (last) last.content += text
}

function convertStatement(state: State, statement: AST.Statement): string {
  switch (statement.type) {
    case 'CommentStatement':
      return ''
    case 'MustacheStatement':
      return convertMustache(state, statement as AST.MustacheStatement)
    case 'BlockStatement':
      return convertBlock(state, statement as Block)
    case 'PartialStatement':
      return convertPartial(state, statement as AST.PartialStatement)
    default:
      return lose(state, statement)
  }
}

/** Converts a part of the template in its own scope. Its outer white space becomes text that the engine keeps. */
function convertInside(state: State, program: AST.Program | undefined, scope?: Scope): string {
  if (!program) return ''
  const outer = state.messages
  const inner: TextMessage = { role: '', content: '' }
  state.messages = [inner]
  state.blocks += 1
  if (scope) state.scopes.push(scope)
  convertBody(state, program)
  if (scope) state.scopes.pop()
  state.blocks -= 1
  state.messages = outer
  return keepOuterBlanks(inner.content)
}

function keepOuterBlanks(text: string): string {
  const kept = (blanks: string): string => (blanks === '' ? '' : print(JSON.stringify(blanks)))
  const rest = text.trimStart()
  const inner = rest.trimEnd()
  return kept(text.slice(0, text.length - rest.length)) + inner + kept(rest.slice(inner.length))
}

function convertBlock(state: State, block: Block): string {
  const { path, params } = block
  const [first] = params
  if (path.type !== 'PathExpression' || sourceOf(state, block).startsWith('{{{{')) return lose(state, block)
  const condition = conditionOf(state, block)
  if (condition !== undefined) return convertIf(state, block, condition)
  const value = first && translate(first, state)
  const isPlain = params.length === 1 && !block.hash && value
  if (isPlain && isNamed(path, 'each')) return convertEach(state, block, value)
  if (isPlain && isNamed(path, 'with')) return convertWith(state, block, value)
  return lose(state, block)
}

function convertIf(state: State, block: Block, condition: string): string {
  const { program, inverse } = block
  const open = `{{ if ${condition} }}${convertInside(state, program ?? inverse)}`
  if (!program) return `${open}{{ endif }}`
  const next = inverse?.chained ? (inverse.body[0] as Block) : undefined
  const chained = next && conditionOf(state, next)
  // `else if` closes with the first `if`.
  if (next && chained !== undefined) return open + convertIf(state, next, chained).replace('{{ if', '{{ else if')
  return `${open}${elseOf(state, block)}{{ endif }}`
}

function elseOf(state: State, { inverse }: Block): string {
  return inverse ? `{{ else }}${convertInside(state, inverse)}` : ''
}

/** Returns the condition of a block that does not change the context. `{{^…}}` has only an inverse. */
function conditionOf(state: State, block: Block): string | undefined {
  const { path, params, program } = block
  if (program?.blockParams) return undefined
  if (params.length === 0) {
    const value = program ? undefined : translate(path, state)
    return value && absenceOf(value)
  }
  const condition = comparisonOf(state, block)
  return program || condition === undefined ? condition : `!(${condition})`
}

function comparisonOf(state: State, { path, params, hash }: Block): string | undefined {
  const [first, second, ...others] = params.map((param) => translate(param, state))
  const option = hash?.pairs.length === 1 && hash.pairs[0]?.key === 'includeZero' ? hash.pairs[0].value : undefined
  if (!first || others.length > 0 || (hash && option?.type !== 'BooleanLiteral')) return undefined
  const includesZero = option !== undefined && (option as AST.BooleanLiteral).value
  const truth = includesZero ? `(${truthOf(first)}) || ${first.code} === 0` : truthOf(first)
  if (params.length === 1) {
    if (isNamed(path, 'if')) return truth
    return isNamed(path, 'unless') ? `!(${truth})` : undefined
  }
  if (hash || !second) return undefined
  if (isNamed(path, 'ifEquals')) return `${first.code} === ${second.code}`
  return isNamed(path, 'unlessEquals') ? `${first.code} !== ${second.code}` : undefined
}

function convertEach(state: State, block: Block, list: Value): string {
  // stet's language has no loop over the keys of an object.
  if (hasType(list, 'object') || !/^[\p{ID_Start}$_]/u.test(list.code)) return lose(state, block)
  const [itemName, indexName] = block.program?.blockParams ?? []
  const item = loopVariable(state, itemName ?? 'item')
  const index = loopVariable(state, indexName ?? `${item}Index`)
  noteType(state, list, 'array')
  if (!hasType(list, 'array')) noteUnknownList(state, block, list)
  const value: Value = { code: item, schema: itemOf(list.schema) }
  const position: Value = { code: index, schema: { type: 'number' } }
  const blockParams = new Map<string, Value>()
  if (indexName !== undefined) blockParams.set(indexName, position)
  if (itemName !== undefined) blockParams.set(itemName, value)
  const body = convertInside(state, block.program, { context: value, blockParams, loop: { index, list: list.code } })
  return `{{ for ${item}, ${index} in ${list.code} }}${body}${elseOf(state, block)}{{ endfor }}`
}

function noteUnknownList(state: State, block: Block, { code }: Value): void {
  if (state.unknownLists.has(code)) return
  state.unknownLists.add(code)
  const advice = 'fails in a run if its value is not a list: declare a list in the input schema, or rewrite the loop'
  note(state, block, `${openingTag(state, block)} ${advice}`)
}

function convertWith(state: State, block: Block, value: Value): string {
  noteType(state, value, 'object')
  const [name] = block.program?.blockParams ?? []
  const blockParams = new Map(name === undefined ? [] : [[name, value]])
  const body = convertInside(state, block.program, { context: value, blockParams })
  return `{{ if ${truthOf(value)} }}${body}${elseOf(state, block)}{{ endif }}`
}

const helpers = new Set(
  'if unless each with lookup log json role history section media ifEquals unlessEquals'.split(' '),
)

function convertMustache(state: State, statement: AST.MustacheStatement): string {
  const { path, params, hash } = statement
  const [first] = params
  if (isNamed(path, 'history')) {
    // dotprompt begins a message of the model after the history.
    if (!beginsInside(state)) state.messages.push({ role: 'assistant', content: '' })
    return drop(state, statement, '{{history}} was dropped: messages from the caller come last')
  }
  if (isNamed(path, 'log')) return ''
  if (params.length === 0 && !hash) {
    const isValue = path.type === 'PathExpression' && !helpers.has((path as AST.PathExpression).original)
    const value = isValue ? translate(path, state) : undefined
    if (value && hasType(value, 'array', 'object'))
      note(state, statement, `${sourceOf(state, statement)} prints as JSON`)
    return value ? print(value.code) : lose(state, statement)
  }
  if (isNamed(path, 'json') && first && !hash) return convertJson(state, statement, first)
  if (isNamed(path, 'lookup') && !hash) {
    const value = translateLookup(params, state)
    return value ? print(value.code) : lose(state, statement)
  }
  if (isNamed(path, 'media') && hash) return convertMedia(state, statement)
  if (isNamed(path, 'role') && first?.type === 'StringLiteral') {
    return beginMessage(state, statement, (first as AST.StringLiteral).value)
  }
  return lose(state, statement)
}

function convertJson(state: State, statement: AST.MustacheStatement, given: AST.Expression): string {
  const value = translate(given, state)
  if (!value) return lose(state, statement)
  if (!hasType(value, 'array', 'object', 'number', 'integer', 'boolean')) {
    note(state, statement, `${sourceOf(state, statement)} prints a text without quotes`)
  }
  return print(value.code)
}

function convertMedia(state: State, statement: AST.MustacheStatement): string {
  const given = new Map(statement.hash.pairs.map(({ key, value }) => [key, translate(value, state)]))
  const [url, type] = [given.get('url'), given.get('contentType')]
  if (!url || (given.has('contentType') && !type)) return lose(state, statement)
  if (!type || type.code.startsWith('"image/')) return `<content-image>${print(url.code)}</content-image>`
  if (!type.code.startsWith('"')) note(state, statement, `${sourceOf(state, statement)} is now always a file`)
  return `<content-file mime={{ ${type.code} }}>${print(url.code)}</content-file>`
}

function beginsInside({ blocks, isPartial }: State): boolean {
  return blocks > 0 || isPartial
}

function beginMessage(state: State, statement: AST.Statement, role: string): string {
  if (beginsInside(state)) {
    return drop(state, statement, `{{role "${role}"}} in a block or partial was dropped: a message cannot begin there`)
  }
  state.messages.push({ role: role === 'model' ? 'assistant' : role, content: '' })
  return ''
}

/**
 * A partial on a line of its own becomes a reference, whose text begins on a new line. Any other partial is inlined,
 * because blanks beside a reference are lost.
 */
function convertPartial(state: State, statement: AST.PartialStatement): string {
  const { name, params, hash, indent } = statement
  const isNamedPartial = name.type === 'PathExpression' || name.type.endsWith('Literal')
  const passed = new Map<string, Value>()
  for (const { key, value } of hash?.pairs ?? []) {
    const translated = translate(value, state)
    if (translated) passed.set(key, translated)
  }
  const outer = state.scopes.at(-1)
  const isThis = params.length === 0 || isNamed(params[0] as AST.Node, 'this') || isNamed(params[0] as AST.Node, '.')
  const given = isThis ? outer?.context : params[0] && translate(params[0], state)
  const isLost = passed.size < (hash?.pairs.length ?? 0) || (!isThis && !given) || params.length > 1
  if (!isNamedPartial || isLost) return lose(state, statement)
  if (given && !isThis) noteType(state, given, 'object')
  const partial = String((name as AST.PathExpression).original)
  if (indent) note(state, statement, `The indentation of {{> ${partial}}} was dropped`)
  const template = state.findPartial(partial)
  if (template !== undefined && mustInline(state, statement, template)) {
    if (state.inlined.includes(partial) || state.inlines === 0) return lose(state, statement)
    const scope: Scope = { context: given, passed: new Map([...(isThis ? (outer?.passed ?? []) : []), ...passed]) }
    return inline(state, partial, template, scope)
  }
  return markReference(
    {
      target: `${partialPrefix}${partial}`,
      passed: new Map([...passed].map(([key, { code }]) => [variableName(key, state), code])),
      ...(given && { context: given.code }),
    },
    state.references,
  )
}

function mustInline(state: State, { loc }: AST.Statement, template: string): boolean {
  const isOnOwnLine = /^\s*\{\{~?>[^{}]*\}\}\s*$/.test(state.source[loc.start.line - 1] ?? '')
  return (
    !isOnOwnLine || state.inlined.length > 0 || /\{\{[^{}]*(?:this\b|\.\.\/|@|history|role|[\s{]\.[\s}])/.test(template)
  )
}

function inline(state: State, name: string, template: string, scope: Scope): string {
  const { source, scopes, line } = state
  for (const word of template.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu) ?? []) state.words.add(word)
  Object.assign(state, { source: template.split('\n'), scopes: [scope] })
  state.inlined.push(name)
  state.inlines -= 1
  convertBody(state, parseTemplate(template, line))
  state.inlined.pop()
  Object.assign(state, { source, scopes })
  return ''
}
