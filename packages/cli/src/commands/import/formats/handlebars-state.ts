import type { AST } from '@handlebars/parser'
import { variableName } from '../placeholders.ts'
import { escapeText, type Reference, type TextMessage } from '../prompt-text.ts'
import type { Names, Value } from './handlebars-values.ts'

/** Finds the template of a partial by its name. */
export type FindPartial = (name: string) => string | undefined

/** The conversion of one template. */
export interface State extends Names {
  messages: TextMessage[]
  source: string[]
  line: number
  isPartial: boolean
  /** How many blocks are open. A message cannot begin inside. */
  blocks: number
  findPartial: FindPartial
  /** The partials that are being inlined. */
  inlined: string[]
  /** How many partials may still be inlined, because partials that include others twice multiply. */
  inlines: number
  references: Reference[]
  /** Words of the template. Names of loop variables must differ from them. */
  words: Set<string>
  /** Values that a loop reads although nothing declares them as lists. Each is reported once. */
  unknownLists: Set<string>
}

export function sourceOf({ source }: State, { loc: { start, end } }: AST.Node): string {
  const lines = source.slice(start.line - 1, end.line)
  const last = (lines.pop() ?? '').slice(0, end.column)
  return [...lines, last].join('\n').slice(start.column)
}

export function lose(state: State, statement: AST.Statement): string {
  const source = sourceOf(state, statement)
  const shown = source.startsWith('{{{{') || !source.includes('\n') ? source : openingTag(state, statement)
  note(state, statement, `${shown.slice(0, 200)} is not supported and stays as text: rewrite or remove it`)
  return escapeText(source)
}

export function openingTag(state: State, statement: AST.Statement): string {
  const source = sourceOf(state, statement)
  return /^\{\{[^}]*\}+/.exec(source)?.[0] ?? source
}

export function note({ line, losses, inlined }: State, { loc }: AST.Statement, message: string): void {
  const place = inlined.length > 0 ? `In the partial "${inlined.at(-1)}": ` : `Line ${line + loc.start.line - 1}: `
  losses.push(place + message)
}

export function drop(state: State, statement: AST.Statement, message: string): '' {
  note(state, statement, message)
  return ''
}

export function noteType({ types }: State, { code }: Value, type: string): void {
  if (/^[\p{ID_Continue}$]+$/u.test(code)) types.set(code, type)
}

/** A loop variable must not hide another variable. */
export function loopVariable({ words }: State, wanted: string): string {
  const first = variableName(wanted, { sources: new Map(), losses: [] })
  let name = first
  for (let number = 2; words.has(name); number += 1) name = `${first}${number}`
  words.add(name)
  return name
}
