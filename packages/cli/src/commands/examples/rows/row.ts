import { createHash } from 'node:crypto'
import type { ExampleChange } from '@stet/sdk'
import { isJsonObject } from '../../../settings/json-file.ts'

export const cellTypes = ['text', 'number', 'boolean', 'json'] as const
export type CellType = (typeof cellTypes)[number]

/** A row of a file. Fields that the file cannot have are absent, so that an import leaves them as they are. */
export interface FileRow {
  file: string
  line: number
  change: Omit<ExampleChange, 'name'>
  /** Absent if the file names no row: the name then follows from the inputs. */
  name?: string
}

export interface Loss {
  file: string
  line: number
  /** The name of the row, or null for a part of the file that is no row. */
  name: string | null
  message: string
}

export interface ReadRows {
  rows: FileRow[]
  losses: Loss[]
}

/** A file that cannot be imported. The message says why, and the place where. */
export class RefusedRow extends Error {
  readonly file: string
  readonly line: number

  constructor(file: string, line: number, message: string) {
    super(message)
    this.file = file
    this.line = line
  }
}

export interface NamedRow extends FileRow {
  name: string
}

const longestName = 256
const longestLabel = 60

/**
 * Gives rows without a name one that follows from their inputs, so that repeating an import finds them again. @throws
 * RefusedRow for a name that appears twice or is too long.
 */
export function nameRows(rows: readonly FileRow[]): NamedRow[] {
  const lines = new Map<string, FileRow>()
  return rows.map((row) => {
    const name = row.name === undefined ? freeName(row, lines) : row.name
    const other = lines.get(name)
    if (other)
      throw new RefusedRow(row.file, row.line, `the name ${JSON.stringify(name)} is also in line ${other.line}`)
    if (name === '' || [...name].length > longestName || /\p{Cc}/u.test(name))
      throw new RefusedRow(row.file, row.line, `a name has 1 to ${longestName} characters, and no control characters`)
    lines.set(name, row)
    return { ...row, name }
  })
}

function freeName({ change }: FileRow, taken: ReadonlyMap<string, unknown>): string {
  const inputs = JSON.stringify([change.parameters ?? {}, change.messages ?? []])
  const digits = createHash('sha256').update(inputs).digest('hex').slice(0, 8)
  const label = labelOf(change.parameters)
  const name = label === '' ? `row ${digits}` : `${label} · ${digits}`
  for (let number = 1; ; number += 1) {
    const tried = number === 1 ? name : `${name} ${number}`
    if (!taken.has(tried)) return tried
  }
}

/** The start of the first text among the values. */
function labelOf(parameters: ExampleChange['parameters']): string {
  const text = Object.values(parameters ?? {}).find((value) => typeof value === 'string' && /\S/.test(value))
  const line = String(text ?? '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return [...line].slice(0, longestLabel).join('').trim()
}

/** Whether the row has what the change would write. The order of keys counts. */
export function isUnchanged(row: object, change: Omit<ExampleChange, 'name'>): boolean {
  const stored: Record<string, unknown> = { ...row }
  return Object.entries(change).every(
    ([key, value]) => JSON.stringify(stored[key]) === JSON.stringify(storedForm(key, value)),
  )
}

/** The server stores the text of a message as a part, and each tag once. */
function storedForm(key: string, value: unknown): unknown {
  if (key === 'tags' && Array.isArray(value)) return [...new Set(value)]
  if (key !== 'messages' || !Array.isArray(value)) return value
  return value.map((message: unknown) => {
    if (!isJsonObject(message) || typeof message['content'] !== 'string') return message
    return { ...message, content: [{ type: 'text', text: message['content'] }] }
  })
}
