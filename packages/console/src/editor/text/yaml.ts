/**
 * Reads and changes single values of the front matter while it is typed. The YAML parser says where they are, so that no
 * other character changes. Loaded on demand: the parser has 34 kB.
 */
import { isCollection, isMap, isNode, isPair, isScalar, parseDocument, stringify, type YAMLMap } from 'yaml'
import { frontMatterOf } from './front-matter.ts'
import { lineBreakOf } from './line-ends.ts'

/** Longer front matter is refused by the server, and takes too long to parse for each key. */
const longest = 65_536

/** The value of a key that holds text or a number, as it is written, but without quotes. Otherwise null. */
export function scalarOf(text: string, key: string): string | null {
  const value = entryOf(rootOf(text), key)?.value
  return isScalar(value) ? (value.source ?? String(value.value)) : null
}

/** Sets one key of the front matter. Null removes its line. */
export function withScalar(text: string, key: string, value: string | number | null): string {
  const root = rootOf(text)
  const entry = entryOf(root, key)
  const written = isFlow(root) ? JSON.stringify(value) : stringify(value, { lineWidth: 0 }).trimEnd()
  if (!entry) return value === null ? text : withSetting(text, root, `${key}: ${written}`)
  const { from, to } = spanOf(text, entry.value)
  if (value === null && !isFlow(root)) return withoutLines(text, spanOf(text, entry.key).from, to)
  const before = text[from - 1] === ':' ? ' ' : ''
  // A block of text ends with a line break, and a comment may follow an empty value.
  const after = isBreak(text[to - 1]) ? lineBreakOf(text) : text[to] === '#' ? ' ' : ''
  return text.slice(0, from) + before + written + after + text.slice(to)
}

/** Declares a parameter before the others, in the style in which they are declared. */
export function withParameter(text: string, name: string): string {
  const root = rootOf(text)
  const { value: declared } = entryOf(root, 'parameters') ?? {}
  const entry = `${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}: { type: text }`
  if (isMap(declared)) return withFirst(text, declared, entry)
  const lines = isFlow(root) ? ` { ${entry} }` : `${lineBreakOf(text)}${indentOf(text, root)}  ${entry}`
  if (!declared) return withSetting(text, root, `parameters:${lines}`)
  const { from } = spanOf(text, declared)
  return isScalar(declared) && declared.source === '' ? text.slice(0, from) + lines + text.slice(from) : text
}

/** The keys of the maps around a position, from the outermost one. The last key is that of the value there. */
export function keysAt(text: string, position: number): string[] {
  const keys: string[] = []
  let node: unknown = rootOf(text)
  while (isCollection(node)) {
    const around: unknown = node.items.findLast((item) => {
      const start = isPair(item) ? item.key : item
      return isNode(start) && spanOf(text, start).from <= position
    })
    if (isPair(around)) keys.push(isScalar(around.key) ? String(around.key.value) : '')
    node = isPair(around) ? around.value : around
  }
  return keys
}

let last: { yaml: string; root: unknown } = { yaml: '', root: null }

/** The readable part of front matter, also if it is unfinished. Cached: a reader asks for several keys of one text. */
function rootOf(text: string): unknown {
  const { from, to } = frontMatterOf(text) ?? { from: 0, to: 0 }
  // For YAML, a lone \r ends no line.
  const yaml = to - from > longest ? '' : text.slice(from, to).replace(/\r(?!\n)/g, '\n')
  if (yaml !== last.yaml) last = { yaml, root: parsed(yaml) }
  return last.root
}

function parsed(yaml: string): unknown {
  try {
    return parseDocument(yaml, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' }).contents
  } catch {
    // Thousands of nested lists exceed the parser's stack.
    return null
  }
}

function entryOf(map: unknown, key: string) {
  return isMap(map) ? map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key) : undefined
}

/** The place of a node in the text. Nodes that are not written have the start of the front matter. */
function spanOf(text: string, node: unknown): { from: number; to: number } {
  const offset = frontMatterOf(text)?.from ?? 0
  const [from, to] = (isNode(node) && node.range) || [0, 0]
  return { from: offset + from, to: offset + to }
}

/** Adds a line at the end of the front matter, and the front matter itself if there is none. */
function withSetting(text: string, root: unknown, line: string): string {
  const area = frontMatterOf(text)
  const lineBreak = lineBreakOf(text)
  if (!area) return `---${lineBreak}${line}${lineBreak}---${lineBreak}${text}`
  if (isFlow(root)) return withFirst(text, root, line)
  const gap = isBreak(text[area.to - 1]) ? '' : lineBreak
  return `${text.slice(0, area.to)}${gap}${indentOf(text, root)}${line}${lineBreak}${text.slice(area.to)}`
}

/** Adds an entry at the start of a map. */
function withFirst(text: string, map: YAMLMap, entry: string): string {
  const { from } = spanOf(text, map)
  const [first] = map.items
  const comma = map.flow ? ',' : ''
  if (!first) return `${text.slice(0, from + 1)} ${entry} ${text.slice(from + 1)}`
  const at = spanOf(text, first.key).from
  const gap = /(?:\r\n|\r|\n)?[ \t]*$/.exec(text.slice(0, at))?.[0] || ' '
  return `${text.slice(0, at)}${entry}${comma}${gap}${text.slice(at)}`
}

/** The indentation of the outermost keys. */
function indentOf(text: string, root: unknown): string {
  const area = frontMatterOf(text)
  const before = text.slice(area?.from ?? 0, spanOf(text, root).from)
  return /[ \t]*$/.exec(before)?.[0] ?? ''
}

function withoutLines(text: string, from: number, to: number): string {
  const start = Math.max(text.lastIndexOf('\n', from - 1), text.lastIndexOf('\r', from - 1)) + 1
  const rest = isBreak(text[to - 1]) ? text.slice(to) : text.slice(to).replace(/^[^\r\n]*(?:\r\n|\r|\n)?/, '')
  return text.slice(0, start) + rest
}

function isFlow(root: unknown): root is YAMLMap {
  return isMap(root) && root.flow === true
}

function isBreak(character: string | undefined): boolean {
  return character === '\n' || character === '\r'
}
