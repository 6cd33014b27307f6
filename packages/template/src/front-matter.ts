import { scan } from 'promptl-ai'
import { CST, Lexer } from 'yaml'
import type { Fault } from './compile-error.ts'
import { checkDepth } from './value-depth.ts'

export interface FrontMatter {
  config: Record<string, unknown>
  /** Offsets into the text between the `---` lines. */
  faults: Fault[]
}

const OPENING = '---'
const CORE_TAG = /^!!(?:str|int|float|bool|null|map|seq)$/

/** Reads a map of plain data without custom tags. Reports `invalid-config` for all other YAML. */
export async function readFrontMatter(yaml: string): Promise<FrontMatter> {
  const tag = customTagAt(yaml)
  if (tag !== -1) return invalid('Custom YAML tags are not allowed', tag)
  try {
    const read = await scan({ prompt: `${OPENING}${yaml}\n---\n` })
    const faults = read.errors.map((error) => ({
      code: 'invalid-config',
      message: error.message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '',
      start: Math.max(0, error.startIndex - OPENING.length),
    }))
    if (faults.length > 0) return { config: {}, faults }
    return plainMap(read.config)
  } catch {
    return invalid('The front matter cannot be read: it is nested too deeply', 0)
  }
}

/**
 * Returns the offset of a tag outside the core schema, or -1. The YAML parser only warns about such tags and drops
 * them.
 */
function customTagAt(yaml: string): number {
  let offset = 0
  let isScalar = false
  for (const token of new Lexer().lex(yaml)) {
    const type: CST.TokenType | null = isScalar ? null : CST.tokenType(token)
    if (type === 'tag' && !CORE_TAG.test(token)) return offset
    isScalar = type === 'scalar'
    // The lexer's marks `scalar`, `doc-mode` and `flow-error-end` are not part of the text.
    if (!isScalar && type !== 'doc-mode' && type !== 'flow-error-end') offset += token.length
  }
  return -1
}

function plainMap(config: unknown): FrontMatter {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return invalid('The front matter must be a map of keys and values', 0)
  }
  checkDepth(config)
  if (holdsProtoKey(config)) return invalid("The key '__proto__' is not allowed", 0)
  return { config: { ...config }, faults: [] }
}

function invalid(message: string, start: number): FrontMatter {
  return { config: {}, faults: [{ code: 'invalid-config', message, start }] }
}

function holdsProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, child]) => key === '__proto__' || holdsProtoKey(child))
}
