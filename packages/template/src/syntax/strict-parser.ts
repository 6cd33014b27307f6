import { CompileError, Parser } from 'promptl-ai'
import { type Fault, FaultError } from '../compile-error.ts'
import { insertSchemaBraces, type SchemaRepair } from '../repair.ts'
import type { Fragment } from './nodes.ts'

/** Node offsets refer to `parsed`. `original` maps them to `text`. */
export interface ParsedText {
  text: string
  parsed: string
  fragment: Fragment
  repairs: SchemaRepair[]
  original(offset: number): number
}

/** The engine searches for this pattern once per character of a comment. `skipComment` searches only once. */
const END_OF_COMMENT = String.raw`\*\/`

/** Regular expressions by source, because the engine creates a new RegExp for the same pattern at each step. */
const stickyForms = new Map<string, RegExp>()

function sticky(pattern: RegExp): RegExp {
  let form = stickyForms.get(pattern.source)
  if (!form) {
    form = new RegExp(pattern.source.replace(/^\^/, ''), 'y')
    stickyForms.set(pattern.source, form)
  }
  return form
}

let Strict: typeof Parser | undefined

/**
 * The engine's parser with three fixes. Positions are exact. The end mark of a comment is plain text outside comments.
 * Each step matches only at its position instead of searching the rest. The class is created on first use, because the
 * SDK loads the optional engine package later.
 */
function strictParser(text: string): Parser {
  Strict ??= class extends Parser {
    override match(expected: string): boolean {
      return expected !== '*/' && this.template.startsWith(expected, this.index)
    }

    override matchRegex(pattern: RegExp): string | null {
      if (pattern.source === END_OF_COMMENT) return this.skipComment()
      const form = sticky(pattern)
      form.lastIndex = this.index
      return form.exec(this.template)?.[0] ?? null
    }

    private skipComment(): string {
      const end = this.template.indexOf('*/', this.index)
      if (end === -1) this.error({ code: 'unclosed-comment', message: 'Unclosed comment' })
      this.index = end
      return '*/'
    }

    override error({ code, message }: { code: string; message: string }, index = this.index): never {
      const start = Math.max(0, Math.min(this.faultOffset(code, index), this.template.length))
      throw new CompileError({ name: 'ParseError', code, message, startIndex: start, endIndex: start, frame: '' })
    }

    private faultOffset(code: string, index: number): number {
      // The engine passes the position of an open block plus one, and its own `error` subtracts one. This override
      // subtracts it here.
      if (code === 'unclosed-block') return index - 1
      return code === 'unclosed-comment' && index === this.template.length ? this.template.lastIndexOf('<!--') : index
    }
  }
  return new Strict(text)
}

/** Line ends must be normalized. @throws FaultError with an offset into the given text */
export function parseText(text: string): ParsedText {
  const { text: parsed, repairs } = insertSchemaBraces(text)
  const inserted = repairs.flatMap((repair) => [repair.open, repair.close]).sort((a, b) => a - b)
  const original = (offset: number): number => offset - inserted.filter((at) => at < offset).length
  try {
    const fragment = strictParser(parsed).parse() as unknown as Fragment
    return { text, parsed, fragment, repairs, original }
  } catch (error) {
    throw new FaultError(parseFault(error, original))
  }
}

function parseFault(error: unknown, original: (offset: number) => number): Fault {
  if (error instanceof CompileError) {
    return { code: error.code, message: refusedSyntax(error.message), start: original(error.startIndex) }
  }
  return { code: 'limit-exceeded', message: 'The prompt is nested too deeply', start: 0 }
}

function refusedSyntax(message: string): string {
  return message === 'Syntax error' ? 'Syntax error, or nested too deeply' : message
}
