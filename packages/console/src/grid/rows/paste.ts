/** Rows that are pasted from a spreadsheet or read from a file: cells, the names of the columns first. Pure. */
import type { Check } from '@stet/contract/vocabulary'
import type { Example } from '@stet/sdk'
import { type PromptInput, valuesOf } from '../../runs/inputs/input-value.ts'
import { expectedIn } from './answer-texts.ts'

/** A row as `examples.batch` takes it. */
export interface PastedRow {
  name: string
  parameters: Record<string, unknown>
  expected?: unknown
  checks?: Check[]
  tags?: string[]
}

export interface Pasted {
  rows: PastedRow[]
  /** What stops the rows from being saved, each with its line. */
  problems: string[]
  /** Columns that are no input of the prompt. Their cells become parameters all the same. */
  unknown: string[]
}

/** Columns with a meaning of their own. All others are inputs of the prompt. */
const own = ['name', 'expected', 'tags']

/** @param taken the names of the examples, which rows without a name do not get */
export function readPasted(text: string, inputs: readonly PromptInput[], taken: readonly string[]): Pasted {
  const [head = [], ...lines] = cellsIn(text)
  const names = head.map((name) => name.trim())
  const filled = lines.map((cells, at) => ({ cells, line: at + 2 })).filter(({ cells }) => cells.some(Boolean))
  const problems = headProblems(names, filled.length)
  if (problems.length > 0) return { rows: [], problems, unknown: [] }
  const unknown = names.filter((name) => !own.includes(name) && !inputs.some((input) => input.name === name))
  const fields = [...inputs, ...unknown.map(textInput)]
  const nameAt = names.indexOf('name')
  const nameOf = namer([...taken, ...filled.map(({ cells }) => cells[nameAt]?.trim() ?? '')])
  const rows = filled.map(({ cells, line }) => {
    const cellOf = (name: string) => cells[names.indexOf(name)] ?? ''
    if (cells.length > names.length)
      problems.push(`Line ${line} has ${cells.length} cells, more than there are columns.`)
    const drafts = Object.fromEntries(fields.map(({ name }) => [name, { text: cellOf(name) }]))
    const read = valuesOf(fields, drafts)
    for (const [name, problem] of Object.entries(read.problems)) problems.push(`Line ${line}, ${name}: ${problem}`)
    return rowOf(cellOf, read.parameters, nameOf(cellOf('name').trim(), line - 1), names)
  })
  const seen = new Set<string>()
  const twice = rows.find(({ name }) => seen.size === seen.add(name).size)
  if (twice) problems.push(`Two rows have the name ${twice.name}.`)
  return { rows, problems, unknown }
}

/** The names of the rows that replace an example with checks. A batch without checks keeps them. */
export function checkedBefore(rows: readonly PastedRow[], examples: readonly Pick<Example, 'name' | 'checks'>[]) {
  const checked = new Set(examples.flatMap(({ name, checks }) => (checks.length > 0 ? [name] : [])))
  return rows.flatMap(({ name, expected }) => (expected != null && checked.has(name) ? [name] : []))
}

/** The row with a check that the answer contains what is expected. Only texts can be contained, so other values get none. */
export function containing(row: PastedRow): PastedRow {
  const { expected } = row
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const isContainable = isText(expected) || (Array.isArray(expected) && expected.length > 0 && expected.every(isText))
  return isContainable ? { ...row, checks: [{ type: 'contains' }] } : row
}

function headProblems(names: readonly string[], rows: number): string[] {
  if (names.every((name) => name === '')) return ['There is nothing to paste.']
  const empty = names.indexOf('') + 1
  if (empty > 0) return [`Column ${empty} has no name in the first line.`]
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return [`Two columns have the name ${twice}.`]
  return rows === 0 ? ['There are no rows below the names of the columns.'] : []
}

/** Gives rows without a name the next free one from their number on. */
function namer(taken: readonly string[]): (given: string, number: number) => string {
  const names = new Set(taken)
  let free = 0
  return (given, number) => {
    if (given) return given
    free = Math.max(free + 1, number)
    while (names.has(`row ${free}`)) free++
    return `row ${free}`
  }
}

function rowOf(
  cellOf: (name: string) => string,
  parameters: PastedRow['parameters'],
  name: string,
  names: readonly string[],
): PastedRow {
  const tags = tagsIn(cellOf('tags'))
  return {
    name,
    parameters,
    ...(names.includes('expected') && { expected: expectedIn(cellOf('expected')) }),
    ...(names.includes('tags') && { tags }),
  }
}

const textInput = (name: string): PromptInput => ({
  ...{ name, kind: 'text', declared: null, isRequired: false },
  ...{ description: null, fallback: undefined },
})

/** "a, b" as two tags, each once. */
export function tagsIn(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags)].filter(Boolean)
}

/** Cells as spreadsheets copy them: one with a tab, a line end or a quote is quoted, and quotes in it are doubled. */
function cellsIn(text: string): string[][] {
  const isTabbed = (text.split('\n', 1)[0] ?? '').includes('\t')
  const quoted = isTabbed ? /"([^"]*(?:""[^"]*)*)"(?=\t|\r?\n|$)/y : /"([^"]*(?:""[^"]*)*)"(?=,|\r?\n|$)/y
  const plain = isTabbed ? /[^\t\r\n]*(?:\r(?!\n)[^\t\r\n]*)*/y : /[^,\r\n]*(?:\r(?!\n)[^,\r\n]*)*/y
  const lines: string[][] = []
  let cells: string[] = []
  for (let at = 0; at <= text.length; at++) {
    quoted.lastIndex = at
    plain.lastIndex = at
    const inQuotes = quoted.exec(text)
    const found = inQuotes ?? plain.exec(text)
    cells.push(inQuotes ? (inQuotes[1] ?? '').replaceAll('""', '"') : (found?.[0] ?? ''))
    at += found?.[0].length ?? 0
    if (text[at] === '\r') at++
    if (at < text.length && text[at] !== '\n') continue
    lines.push(cells)
    cells = []
  }
  return lines
}
