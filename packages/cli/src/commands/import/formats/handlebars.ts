import { variableName } from '../placeholders.ts'
import { escapeText, markReference, type Reference, type TextMessage } from '../prompt-text.ts'
import { type Call, readTag, splitTags, type Tag, type Value } from './handlebars-tags.ts'

interface Block {
  /** Names inside the block refer to properties of this object. Absent if the block does not change the context. */
  item?: string
  /** The closing tag in stet's language. Empty if stet has no equivalent. */
  end: string
}

interface State {
  messages: TextMessage[]
  blocks: Block[]
  isPartial: boolean
  references: Reference[]
  types: Map<string, string>
  losses: string[]
  sources: Map<string, string>
  line: number
}

/**
 * Converts a Handlebars template with dotprompt helpers to messages. Supports variables, `if`, `unless`, `each`,
 * `ifEquals`, `unlessEquals`, `role`, `media`, `json` and partials. Drops comments and reports everything else.
 * Unknown helpers stay as escaped text.
 */
export function convertHandlebars(
  template: string,
  { isPartial, firstLine }: { isPartial: boolean; firstLine: number },
  losses: string[],
): Pick<State, 'messages' | 'references' | 'types'> {
  const state: State = {
    messages: [{ role: 'user', content: '' }],
    blocks: [],
    isPartial,
    references: [],
    types: new Map(),
    losses,
    sources: new Map(),
    line: firstLine,
  }
  for (const { before, source } of splitTags(template)) {
    write(state, escapeText(before))
    state.line += countLineEnds(before)
    if (source !== '') write(state, convertTag(state, readTag(source), source))
    state.line += countLineEnds(source)
  }
  const { messages, references, types } = state
  return { messages: messages.filter(({ content }) => content.trim() !== ''), references, types }
}

function countLineEnds(text: string): number {
  return text.split('\n').length - 1
}

function write({ messages }: State, text: string): void {
  const last = messages.at(-1)
  if (last) last.content += text
}

function convertTag(state: State, tag: Tag, source: string): string {
  switch (tag.kind) {
    case 'text':
      return escapeText(tag.text)
    case 'comment':
      return ''
    case 'open':
      return openBlock(state, tag, source)
    case 'close':
      return state.blocks.pop()?.end || escapeText(source)
    case 'else':
      return state.blocks.at(-1)?.end === '' ? escapeText(source) : '{{ else }}'
    case 'else-block': {
      const [condition] = tag.call.args
      if (tag.name !== 'if' || !condition) return lose(state, source)
      return `{{ else if ${translate(state, condition)} }}`
    }
    case 'partial':
      return convertPartial(state, tag.call)
    case 'value':
      return convertValue(state, tag.call, source)
    case 'unknown':
      return lose(state, source)
  }
}

function openBlock(state: State, { name, isInverted, call }: Tag & { kind: 'open' }, source: string): string {
  const condition = call && conditionOf(state, isInverted ? 'unless' : name, isInverted ? [call.callee] : call.args)
  const [list] = call?.args ?? []
  if (condition !== undefined) {
    state.blocks.push({ end: '{{ endif }}' })
    return `{{ if ${condition} }}`
  }
  if (name === 'each' && call && list) {
    const listName = translate(state, list)
    const depth = state.blocks.filter(({ item }) => item !== undefined).length
    const item = call.blockParams[0] ?? (depth === 0 ? 'item' : `item${depth + 1}`)
    state.types.set(listName, 'array')
    state.blocks.push({ item, end: '{{ endfor }}' })
    return `{{ for ${item}, ${item}Index in ${listName} }}`
  }
  state.blocks.push({ end: '' })
  return lose(state, source)
}

function conditionOf(state: State, helper: string, args: readonly Value[]): string | undefined {
  const [first = '', second = ''] = args.map((arg) => translate(state, arg))
  const conditions = new Map([
    ['if', first],
    ['unless', `!${first}`],
    ['ifEquals', `${first} == ${second}`],
    ['unlessEquals', `${first} != ${second}`],
  ])
  return conditions.get(helper)
}

function convertPartial(state: State, { callee, args, named }: Call): string {
  const passed = new Map([...named].map(([key, value]) => [variableName(key, state), translate(state, value)]))
  // A partial reads its variables from the given object. Without one, it reads them from the item of the surrounding
  // `each`.
  let context = state.blocks.findLast(({ item }) => item !== undefined)?.item
  const [given] = args
  if (given && !isThis(given)) {
    context = translate(state, given)
    state.types.set(context, 'object')
  }
  const inContext = context === undefined ? {} : { context }
  return markReference({ target: textOf(callee), passed, ...inContext }, state.references)
}

function convertValue(state: State, { callee, args, named }: Call, source: string): string {
  const name = textOf(callee)
  const [first] = args
  const url = named.get('url')
  if (name === 'history') {
    return drop(state, '{{history}} was dropped: messages from the caller come last')
  }
  if (args.length === 0 && named.size === 0) return `{{ ${translate(state, callee)} }}`
  if (name === 'json' && first) return `{{ ${translate(state, first)} }}`
  if (name === 'media' && url) return `<content-image>{{ ${translate(state, url)} }}</content-image>`
  if (name === 'role' && first) return beginMessage(state, textOf(first))
  return lose(state, source)
}

function beginMessage(state: State, role: string): string {
  if (state.blocks.length > 0 || state.isPartial) {
    return drop(state, `{{role "${role}"}} in a block or partial was dropped: a message cannot begin there`)
  }
  state.messages.push({ role: role === 'model' ? 'assistant' : role, content: '' })
  return ''
}

function lose(state: State, source: string): string {
  state.losses.push(`Line ${state.line}: ${source} is not supported and stays as text: rewrite or remove it`)
  return escapeText(source)
}

function drop({ line, losses }: State, message: string): '' {
  losses.push(`Line ${line}: ${message}`)
  return ''
}

function textOf(value: Value): string {
  if (value.type === 'PathExpression' || value.type === 'StringLiteral') return value.original
  return 'value' in value ? String(value.value) : ''
}

function isThis(value: Value): boolean {
  return value.type === 'PathExpression' && /^(this|\.)$/.test(value.original)
}

/** Returns the value as an expression of stet's language. Inside `each`, a bare name is a property of the item. */
function translate(state: State, value: Value): string {
  switch (value.type) {
    case 'StringLiteral':
      return JSON.stringify(value.value)
    case 'NumberLiteral':
    case 'BooleanLiteral':
      return String(value.value)
    case 'NullLiteral':
      return 'null'
    case 'UndefinedLiteral':
      return 'undefined'
    case 'PathExpression':
      return translatePath(state, value)
  }
}

function translatePath(state: State, { data, depth, parts, original }: Value & { type: 'PathExpression' }): string {
  const loops = state.blocks.map(({ item }) => item).filter((item) => item !== undefined)
  const item = loops.at(-1)
  if (original === '@index' || original === '@key') return item ? `${item}Index` : 'index'
  if (original === '@first') return item ? `${item}Index == 0` : 'first'
  const path = parts.map(String)
  if (data) return path[0] === 'root' ? names(path.slice(1), state) : names([`@${path[0]}`, ...path.slice(1)], state)
  const owner = loops.at(-1 - depth)
  if (path.length === 0) return owner ?? 'input'
  const isOfBlock = depth === 0 && !/^(this|\.)\W/.test(original) && loops.includes(path[0] ?? '')
  return names(owner === undefined || isOfBlock ? path : [owner, ...path], state)
}

function names([first = '', ...rest]: readonly string[], { losses, sources, types }: State): string {
  const variable = variableName(first, { losses, sources })
  if (rest.length > 0 && !types.has(variable)) types.set(variable, 'object')
  return [variable, ...rest].join('.')
}
