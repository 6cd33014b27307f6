import { CST, isCollection, isMap, isPair, isScalar, Lexer, type ParsedNode } from 'yaml'
import { CallerLimitError, type Fault } from '../compile-error.ts'
import { checkDepth } from '../evaluate/values/value-depth.ts'
import { parseYaml } from './yaml.ts'

export interface FrontMatter {
  config: Record<string, unknown>
  /** Offsets into the text between the `---` lines. */
  faults: Fault[]
}

/** The parser of YAML needs up to 300 ms for this much hostile text, and cannot be interrupted. */
const MAX_FRONT_MATTER_CHARS = 65_536
const MAX_ALIASES = 100
/** Deeper lists and maps take quadratic time to parse. */
const MAX_DEPTH = 64
/** Reading a list or a map that is a key writes all keys inside it as text, again at each level. */
const MAX_KEY_DEPTH = 4
const TOO_DEEP = 'The front matter is nested too deeply'
const CORE_TAG = /^!!(?:str|int|float|bool|null|map|seq)$/

/**
 * Reads a map of plain data without custom tags. Reports `invalid-config` for all other YAML.
 * @throws CallerLimitError for more than `maxChars`
 */
export function readFrontMatter(yaml: string, maxChars = Number.POSITIVE_INFINITY): FrontMatter {
  if (yaml.length > maxChars) throw new CallerLimitError()
  if (yaml.length > MAX_FRONT_MATTER_CHARS) return invalid('The front matter is larger than 64 KB', 0, 'limit-exceeded')
  const fault = tokenFault(yaml)
  if (fault) return invalid(fault.message, fault.start)
  try {
    return readMap(yaml)
  } catch (error) {
    // A ReferenceError says that there are too many aliases, or an alias without an anchor.
    const message = error instanceof ReferenceError ? error.message : TOO_DEEP
    return invalid(message, 0)
  }
}

function readMap(yaml: string): FrontMatter {
  const document = parseYaml(yaml)
  const [error] = document.errors
  if (error) return invalid(error.message, error.pos[0])
  if (isTooDeep(document.contents)) return invalid(TOO_DEEP, 0)
  const repeated = repeatedKeyAt(document.contents)
  if (repeated !== undefined) return invalid('Map keys must be unique', repeated)
  const config: unknown = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {}
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return invalid('The front matter must be a map of keys and values', 0)
  }
  checkDepth(config)
  if (holdsProtoKey(config)) return invalid("The key '__proto__' is not allowed", 0)
  return { config: { ...config }, faults: [] }
}

function isTooDeep(contents: ParsedNode | null): boolean {
  const open: { node: unknown; depth: number; keyDepth: number }[] = [{ node: contents, depth: 0, keyDepth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, depth, keyDepth } = next
    if (depth > MAX_DEPTH || keyDepth > MAX_KEY_DEPTH) return true
    if (!isCollection(node)) continue
    for (const item of node.items) {
      const value = isPair(item) ? item.value : item
      open.push({ node: value, depth: depth + 1, keyDepth })
      if (isPair(item) && isCollection(item.key)) {
        open.push({ node: item.key, depth: depth + 1, keyDepth: keyDepth + 1 })
      }
    }
  }
  return false
}

/** Returns the offset of a key that its map already has. */
function repeatedKeyAt(contents: ParsedNode | null): number | undefined {
  const open: unknown[] = [contents]
  while (open.length > 0) {
    const node = open.pop()
    if (isPair(node)) open.push(node.value, node.key)
    if (!isCollection(node)) continue
    const keys = new Set<unknown>()
    for (const item of node.items.toReversed()) open.push(item)
    for (const { key } of isMap(node) ? node.items : []) {
      if (!isScalar(key)) continue
      if (keys.has(key.value)) return key.range?.[0] ?? 0
      keys.add(key.value)
    }
  }
  return undefined
}

/**
 * Finds a tag outside the core schema, which the YAML parser only warns about and drops, and lists and maps so deep that
 * the parser would take too long, or fill the stack: on Node 20, V8 ends the process if it compiles a regular expression
 * on a full stack.
 */
function tokenFault(yaml: string): Omit<Fault, 'code'> | undefined {
  const depth = new BlockDepth()
  let offset = 0
  let lineStart = 0
  let flowDepth = 0
  let isScalarText = false
  for (const token of new Lexer().lex(yaml)) {
    const type: CST.TokenType | null = isScalarText ? 'scalar' : CST.tokenType(token)
    if (type === 'tag' && !CORE_TAG.test(token)) return { message: 'Custom YAML tags are not allowed', start: offset }
    if (type === 'flow-error-end') flowDepth = 0
    if (flowDepth === 0) depth.read(type, offset - lineStart)
    if (type === 'flow-map-start' || type === 'flow-seq-start') flowDepth += 1
    if (type === 'flow-map-end' || type === 'flow-seq-end') flowDepth = Math.max(0, flowDepth - 1)
    if (depth.columns.length + flowDepth > MAX_DEPTH) return { message: TOO_DEEP, start: 0 }
    isScalarText = !isScalarText && type === 'scalar'
    // The lexer's marks `scalar`, `doc-mode` and `flow-error-end` are not part of the text.
    if (isScalarText || type === 'doc-mode' || type === 'flow-error-end') continue
    if (token.includes('\n')) lineStart = offset + token.lastIndexOf('\n') + 1
    offset += token.length
  }
  return undefined
}

/** Follows the lists and maps that indentation opens and closes. */
class BlockDepth {
  /** Where each open list or map begins in its line. */
  readonly columns: number[] = []
  #keyColumn: number | undefined

  read(type: CST.TokenType | null, column: number): void {
    if (type === 'newline') this.#keyColumn = undefined
    else if (type === 'seq-item-ind' || type === 'explicit-key-ind') this.#open(column)
    else if (type === 'map-value-ind') this.#open(this.#keyColumn ?? column)
    else if (type !== 'space' && type !== 'comment') this.#keyColumn ??= column
  }

  #open(column: number): void {
    while ((this.columns.at(-1) ?? -1) > column) this.columns.pop()
    if (this.columns.at(-1) !== column) this.columns.push(column)
    this.#keyColumn = undefined
  }
}

function invalid(message: string, start: number, code = 'invalid-config'): FrontMatter {
  return { config: {}, faults: [{ code, message, start }] }
}

function holdsProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, child]) => key === '__proto__' || holdsProtoKey(child))
}
