/** Converts assertions of promptfoo to checks. */
import type { Check } from '@stet/sdk'
import { parse } from 'yaml'
import { isJsonObject } from '../../../settings/json-file.ts'
import { type Files, Lost, type Place } from './files.ts'

export type Assertion = Readonly<Record<string, unknown>>

type Values = Readonly<Record<string, unknown>>

/** These need a model that judges. Their criteria are listed. */
const judged = /^(not-)?(llm-rubric|agent-rubric|search-rubric|factuality|g-eval|model-graded-(closedqa|factuality))$/

/** @throws Lost if the assertion has no counterpart; RefusedRow for a file that cannot be read */
export async function checksOf(assertion: Assertion, values: Values, files: Files, from: Place): Promise<Check[]> {
  const { type, transform, weight } = assertion
  if (typeof type !== 'string') throw new Lost('an assertion without a type')
  if (transform !== undefined) throw new Lost(`${type} with a transform`)
  if (weight === 0) throw new Lost(`${type} with weight 0 decides nothing`)
  const given = await readValue(assertion['value'], values, files, from)
  if (judged.test(type)) throw new Lost(`${type} needs a judge: ${criteriaOf(given)}`, true)
  if (type === 'assert-set') return checksOfSet(assertion, values, files, from)
  const [, not, plain = ''] = /^(not-)?(.*)$/.exec(type) ?? []
  const check = checkOf(plain, given, assertion['threshold'])
  if (!check) throw new Lost(`${type} has no counterpart`)
  return [not === undefined ? check : { ...check, negate: true }]
}

async function checksOfSet(set: Assertion, values: Values, files: Files, from: Place): Promise<Check[]> {
  const { assert, threshold = 1 } = set
  if (threshold !== 1 || !Array.isArray(assert)) throw new Lost('assert-set with a threshold')
  const checks: Check[] = []
  for (const each of assert) if (isJsonObject(each)) checks.push(...(await checksOf(each, values, files, from)))
  return checks
}

function checkOf(type: string, value: unknown, threshold: unknown): Check | undefined {
  switch (type) {
    case 'equals':
      if (value === undefined) throw new Lost('equals without a value')
      return { type: 'exact', value: typeof value === 'object' ? value : String(value) }
    case 'contains':
    case 'icontains':
      return { type: 'contains', all: [textOf(type, value)], caseSensitive: type === 'contains' }
    case 'contains-all':
    case 'icontains-all':
      return { type: 'contains', all: listOf(type, value), caseSensitive: type === 'contains-all' }
    case 'contains-any':
    case 'icontains-any':
      return { type: 'contains', any: listOf(type, value), caseSensitive: type === 'contains-any' }
    case 'regex':
      return { type: 'regex', pattern: textOf(type, value) }
    case 'is-json':
      return { type: 'json_schema', schema: schemaOf(value) }
    case 'cost':
    case 'latency':
      if (typeof threshold !== 'number') throw new Lost(`${type} without a threshold`)
      return { type, max: threshold }
    default:
      return undefined
  }
}

function textOf(type: string, value: unknown): string {
  if (value === undefined || value === null || typeof value === 'object') throw new Lost(`${type} without a text`)
  return String(value)
}

/** A list, or a text with its parts between commas. */
function listOf(type: string, value: unknown): string[] {
  const list = Array.isArray(value) ? value.map(String) : partsOf(type, textOf(type, value))
  const texts = list.filter((text) => text !== '')
  if (texts.length === 0) throw new Lost(`${type} without texts`)
  return texts
}

// One part, quoted or not, with what precedes it.
const nextPart = /[\s,]*(?:"((?:[^"\\]|\\(?:["\\]|(?!["\\]))|"")*)"\s*(?=,|$)|([^\s,"][^,]*))/gy

/** Quotes protect a part if it begins with one. A quote inside of them is doubled, or follows a backslash. */
function partsOf(type: string, text: string): string[] {
  let end = 0
  const parts = [...text.matchAll(nextPart)].map(({ 0: whole, 1: quoted, 2: plain = '', index }) => {
    end = index + whole.length
    return quoted === undefined ? plain.trim() : quoted.replaceAll(/\\(["\\])|""/g, (_, escaped = '"') => escaped)
  })
  if (/[^\s,]/.test(text.slice(end))) throw new Lost(`${type} with a quote that is not closed before a comma`)
  return parts
}

function schemaOf(value: unknown): Record<string, unknown> {
  const schema = typeof value === 'string' && value.trim() !== '' ? parsed(value) : value || {}
  if (isJsonObject(schema)) return schema
  throw new Lost('is-json with a schema that is no object')
}

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    throw new Lost('is-json with a schema that is no YAML')
  }
}

function criteriaOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : JSON.stringify(value ?? null)
}

async function readValue(value: unknown, values: Values, files: Files, from: Place): Promise<unknown> {
  if (typeof value === 'string' && value.startsWith('file://')) return (await files.read(value, from)).value
  return filledIn(value, values)
}

/** Replaces `{{ name }}`. @throws Lost for any other template */
export function filledIn(value: unknown, values: Values): unknown {
  if (Array.isArray(value)) return value.map((entry) => filledIn(entry, values))
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filledIn(entry, values)]))
  if (typeof value !== 'string' || !/\{\{|\{%/.test(value)) return value
  const text = value.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (whole, name: string) => {
    const filling = Object.hasOwn(values, name) ? values[name] : whole
    return typeof filling === 'object' ? JSON.stringify(filling) : String(filling)
  })
  const rest = value.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? '' : whole,
  )
  if (/\{\{|\{%/.test(rest)) throw new Lost(`the template ${JSON.stringify(value.slice(0, 80))}`)
  return text
}
