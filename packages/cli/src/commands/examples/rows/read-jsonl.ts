/** JSON Lines: one row a line, whole, as `stet examples export` writes it. */
import type { ExampleChange } from '@stet/sdk'
import { isJsonObject } from '../../../settings/json-file.ts'
import { parseExactJson } from './exact-json.ts'
import { type FileRow, RefusedRow } from './row.ts'

type Shape = [isValid: (value: unknown) => boolean, description: string]

const list: Shape = [Array.isArray, 'a list']
const object: Shape = [isJsonObject, 'an object']
const isText = (value: unknown): value is string => typeof value === 'string'

const shapes: Readonly<Record<string, Shape>> = {
  name: [isText, 'a text'],
  parameters: object,
  messages: list,
  expected: [() => true, ''],
  checks: list,
  toolResults: object,
  tags: [(value) => Array.isArray(value) && value.every(isText), 'a list of texts'],
}

/** What a line leaves out is empty, so that a repeated import removes what was removed from the file. */
const empty = { messages: [], expected: null, checks: [], toolResults: {}, tags: [] }

/** @throws RefusedRow */
export function readJsonl(file: string, text: string): FileRow[] {
  const rows: FileRow[] = []
  for (const [index, content] of text.split('\n').entries()) {
    if (content.trim() === '') continue
    const { name, ...fields } = readLine(file, index + 1, content)
    const change = { ...empty, ...fields } as FileRow['change']
    rows.push({ file, line: index + 1, change, ...(isText(name) && { name }) })
  }
  return rows
}

function readLine(file: string, line: number, content: string): Record<string, unknown> {
  const refuse = (message: string) => new RefusedRow(file, line, message)
  const value = parseExactJson(content, refuse)
  if (!isJsonObject(value)) throw refuse('a row is a JSON object')
  const fields = Object.entries(value).filter(([key, entry]) => entry !== null || key === 'expected')
  for (const [key, entry] of fields) {
    const [isValid, description] = Object.hasOwn(shapes, key) ? (shapes[key] ?? []) : []
    if (!isValid) throw refuse(`unknown key "${key}": a row has ${Object.keys(shapes).join(', ')}`)
    if (!isValid(entry)) throw refuse(`"${key}" must be ${description}`)
  }
  if (!fields.some(([key]) => key === 'parameters')) throw refuse('"parameters" is missing')
  return Object.fromEntries(fields)
}

/** The line of a row. Empty fields are left out. */
export function jsonlOf({ name, ...fields }: ExampleChange): string {
  const { parameters = {}, messages = [], expected = null, checks = [], toolResults = {}, tags = [] } = fields
  return JSON.stringify({
    name,
    parameters,
    ...(messages.length > 0 && { messages }),
    ...(expected !== null && { expected }),
    ...(checks.length > 0 && { checks }),
    ...(Object.keys(toolResults).length > 0 && { toolResults }),
    ...(tags.length > 0 && { tags }),
  })
}
