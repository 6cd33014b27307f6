import { escapeText, markReference, type Reference, type TextMessage, variableName } from '../prompt-text.ts'

/** An open block. `item` is the object that names within it belong to; undefined if the block does not change that. */
interface Block {
  close: string
  item?: string
  /** The closing tag in stet's language; empty without a counterpart. */
  end: string
}

interface State {
  messages: TextMessage[]
  blocks: Block[]
  isPartial: boolean
  references: Reference[]
  /** Types of variables other than text. */
  types: Map<string, string>
  losses: string[]
  /** The current tag's line, from 1. */
  line: number
}

const tag = /\\?\{\{!--[\s\S]*?--\}\}|\\?\{\{\{[\s\S]*?\}\}\}|\\?\{\{[\s\S]*?\}\}/g

/**
 * A Handlebars template with the helpers of dotprompt as messages. Variables, `if`, `unless`, `each`, `ifEquals`, `unlessEquals`,
 * `role`, `media`, `json` and partials have counterparts. Every other helper is reported and stays in the text, escaped.
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
    line: firstLine,
  }
  let done = 0
  for (const match of template.matchAll(tag)) {
    const before = template.slice(done, match.index)
    write(state, escapeText(before))
    state.line += countLineEnds(before)
    convertTag(state, match[0])
    state.line += countLineEnds(match[0])
    done = match.index + match[0].length
  }
  write(state, escapeText(template.slice(done)))
  const { messages, references, types } = state
  return { messages: messages.filter(({ content }) => content.trim() !== ''), references, types }
}

function countLineEnds(text: string): number {
  return text.split('\n').length - 1
}

function write(state: State, text: string): void {
  const last = state.messages.at(-1)
  if (last) last.content += text
}

function convertTag(state: State, source: string): void {
  if (source.startsWith('\\')) {
    write(state, escapeText(source.slice(1)))
    return
  }
  const inside = source
    .replace(/^\{{2,3}~?/, '')
    .replace(/~?\}{2,3}$/, '')
    .trim()
  if (inside.startsWith('!')) return
  const words = inside.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  const [head = '', ...rest] = words
  if (head.startsWith('#')) openBlock(state, head.slice(1), rest, source)
  else if (head.startsWith('/')) closeBlock(state, head.slice(1))
  else if (head === 'else' || head === '^') otherwise(state, rest, source)
  else if (head.startsWith('>')) includePartial(state, [head.slice(1), ...rest].filter(Boolean))
  else if (rest.length > 0 || head === 'history') callHelper(state, head, rest, source)
  else write(state, `{{ ${translate(state, head)} }}`)
}

function openBlock(state: State, name: string, args: readonly string[], source: string): void {
  const [first = '', second = ''] = args.map((arg) => translate(state, arg))
  const conditions: Record<string, string> = {
    if: first,
    unless: `!${first}`,
    ifEquals: `${first} == ${second}`,
    unlessEquals: `${first} != ${second}`,
  }
  const condition = Object.hasOwn(conditions, name) ? conditions[name] : undefined
  if (condition !== undefined) {
    write(state, `{{ if ${condition} }}`)
    state.blocks.push({ close: name, end: '{{ endif }}' })
  } else if (name === 'each') {
    const depth = state.blocks.filter(({ item }) => item !== undefined).length
    const named = /as\s+\|\s*(\w+)/.exec(args.join(' '))?.[1]
    const item = named ?? (depth === 0 ? 'item' : `item${depth + 1}`)
    state.types.set(first, 'array')
    write(state, `{{ for ${item}, ${item}Index in ${first} }}`)
    state.blocks.push({ close: name, item, end: '{{ endfor }}' })
  } else {
    lose(state, source)
    state.blocks.push({ close: name, end: '' })
  }
}

function closeBlock(state: State, name: string): void {
  const block = state.blocks.pop()
  write(state, block?.end || escapeText(`{{/${name}}}`))
}

function otherwise(state: State, [helper, ...args]: readonly string[], source: string): void {
  if (helper === undefined) write(state, '{{ else }}')
  else if (helper === 'if') write(state, `{{ else if ${translate(state, args[0] ?? '')} }}`)
  else lose(state, source)
}

function includePartial(state: State, [target = '', ...args]: readonly string[]): void {
  const passed = new Map<string, string>()
  // A partial sees its surrounding context, or the named object.
  let context = state.blocks.findLast(({ item }) => item !== undefined)?.item
  for (const arg of args) {
    const [, key, value = ''] = /^(\w+)=([\s\S]*)$/.exec(arg) ?? []
    if (key !== undefined) passed.set(variableName(key, state.losses), translate(state, value))
    else if (arg !== 'this' && arg !== '.') {
      context = translate(state, arg)
      state.types.set(context, 'object')
    }
  }
  write(state, markReference({ target, passed, ...(context !== undefined && { context }) }, state.references))
}

function callHelper(state: State, name: string, args: readonly string[], source: string): void {
  const [first = ''] = args
  if (name === 'json') write(state, `{{ ${translate(state, first)} }}`)
  else if (name === 'media') {
    const url = args.find((arg) => arg.startsWith('url='))?.slice(4) ?? ''
    write(state, `<content-image>{{ ${translate(state, url)} }}</content-image>`)
  } else if (name === 'role') beginMessage(state, first.slice(1, -1))
  else if (name === 'history') {
    note(state, '{{history}} was dropped: messages that a caller passes come at the end')
  } else lose(state, source)
}

function beginMessage(state: State, role: string): void {
  if (state.blocks.length > 0 || state.isPartial) {
    note(state, `{{role "${role}"}} within a block or a partial was dropped: a message cannot begin there`)
  } else state.messages.push({ role: role === 'model' ? 'assistant' : role, content: '' })
}

function lose(state: State, source: string): void {
  note(state, `${source} has no counterpart and stays as text: rewrite or remove it`)
  write(state, escapeText(source))
}

function note({ line, losses }: State, message: string): void {
  losses.push(`Line ${line}: ${message}`)
}

/** A name or literal in stet's language; within `each` a bare name belongs to the item. */
function translate(state: State, text: string): string {
  if (/^("[^"]*"|'[^']*'|-?\d+(\.\d+)?|true|false|null|undefined)$/.test(text)) return text
  const loops = state.blocks.map(({ item }) => item).filter((item) => item !== undefined)
  const item = loops.at(-1)
  if (text === '@index' || text === '@key') return item ? `${item}Index` : 'index'
  if (text === '@first') return item ? `${item}Index == 0` : 'first'
  if (text === 'this' || text === '.') return item ?? 'input'
  if (text.startsWith('@root.')) return names(text.slice(6), state)
  if (text.startsWith('../')) {
    const outer = loops.at(-2)
    return names(`${outer ? `${outer}.` : ''}${text.slice(3)}`, state)
  }
  const bare = text.replace(/^(this\.|\.\/)/, '')
  const isNamed = loops.includes(bare.split('.')[0] ?? '')
  return names(item !== undefined && !isNamed ? `${item}.${bare}` : bare, state)
}

function names(path: string, { losses, types }: State): string {
  const [first = '', ...rest] = path.split('.').filter((name) => name !== '')
  const variable = variableName(first, losses)
  if (rest.length > 0 && !types.has(variable)) types.set(variable, 'object')
  return [variable, ...rest].join('.')
}
