/** Checks as people read them and fill them in. Pure. */
import type { Check } from '@stet/contract/vocabulary'
import { decimalIn, jsonOf } from '../../runs/inputs/input-value.ts'
import { answerTextOf, expectedIn, oneLine } from './answer-texts.ts'

type Kind = 'all' | 'any' | 'exact' | 'regex' | 'json_schema' | 'cost' | 'latency'

/** A check in the fields of a form. */
export interface CheckForm {
  kind: Kind
  text: string
  flags: string
  field: string
  isNegated: boolean
  isCaseSensitive: boolean
  /** The stored check. What the form does not show stays as it is there. */
  stored?: Check
}

interface KindOfCheck {
  /** What the answer does. */
  label: string
  /** The name of its value. */
  value: string
  hint?: string
  isLong?: boolean
  /** It looks at the answer, or at a field of it. */
  isOfAnswer?: boolean
  /** Whether upper and lower case count unless the check says otherwise. Absent if they always do. */
  isCaseSensitive?: boolean
}

const isOfAnswer = true
const orExpected = 'Empty: what the row expects.'

export const kinds: Record<Kind, KindOfCheck> = {
  all: {
    ...{ label: 'contains all of', value: 'Texts', hint: `One a line. ${orExpected}` },
    ...{ isLong: true, isOfAnswer, isCaseSensitive: false },
  },
  any: {
    ...{ label: 'contains one of', value: 'Texts', hint: `One a line. ${orExpected}` },
    ...{ isLong: true, isOfAnswer, isCaseSensitive: false },
  },
  exact: {
    ...{ label: 'is equal to', value: 'Text or JSON', hint: orExpected },
    ...{ isLong: true, isOfAnswer, isCaseSensitive: true },
  },
  regex: { label: 'matches', value: 'Pattern', hint: 'A regular expression of JavaScript.', isOfAnswer },
  json_schema: { label: 'is valid by', value: 'JSON Schema', isLong: true, isOfAnswer },
  cost: { label: 'costs at most', value: 'USD' },
  latency: { label: 'takes at most', value: 'Milliseconds' },
}

export function newCheck(): CheckForm {
  return { kind: 'all', text: '', flags: '', field: '', isNegated: false, isCaseSensitive: false }
}

export function formOf(check: Check): CheckForm {
  const kind = check.type === 'contains' ? (check.any ? 'any' : 'all') : check.type
  const {
    field = '',
    flags = '',
    negate = false,
    caseSensitive,
  } = check as Partial<Extract<Check, { type: 'regex' }>> & {
    caseSensitive?: boolean
  }
  const isCaseSensitive = caseSensitive ?? kinds[kind].isCaseSensitive ?? false
  return { kind, text: valueText(check), flags, field, isNegated: negate, isCaseSensitive, stored: check }
}

/** @throws Error that says what is wrong with a field */
export function checkIn(form: CheckForm): Check {
  const { kind, text, flags, field, isNegated, isCaseSensitive, stored } = form
  if (stored && JSON.stringify(formOf(stored)) === JSON.stringify(form)) return stored
  const negate = isNegated ? { negate: true } : {}
  const byCase = isCaseSensitive === kinds[kind].isCaseSensitive ? {} : { caseSensitive: isCaseSensitive }
  const common = { ...(field.trim() && { field: field.trim() }), ...negate }
  if (kind === 'cost' || kind === 'latency') return { type: kind, max: numberIn(text), ...negate }
  if (kind === 'regex') return { type: kind, pattern: text, ...(flags.trim() && { flags: flags.trim() }), ...common }
  if (kind === 'json_schema') return { type: kind, schema: objectIn(text), ...common }
  if (kind === 'exact') {
    const trim = stored?.type === 'exact' && stored.trim === false ? { trim: false } : {}
    return { type: kind, ...(untouchedIn(form) ?? valueIn(text)), ...byCase, ...trim, ...common }
  }
  return { type: 'contains', ...(untouchedIn(form) ?? textsIn(kind, text)), ...byCase, ...common }
}

/** The stored value, unless the form has another one: its text cannot tell 7 from "7", or null from an empty text. */
function untouchedIn({
  kind,
  text,
  stored,
}: CheckForm): { value?: unknown; all?: string[]; any?: string[] } | undefined {
  if (stored?.type !== 'exact' && stored?.type !== 'contains') return undefined
  const shown = formOf(stored)
  if (shown.kind !== kind || shown.text !== text) return undefined
  const { value, all, any } = stored as { value?: unknown; all?: string[]; any?: string[] }
  return { ...(value !== undefined && { value }), ...(all && { all }), ...(any && { any }) }
}

/** "does not contain “refund”" */
export function checkText(check: Check): string {
  const not = check.negate ? 'not ' : ''
  if (check.type === 'contains') {
    const words = (check.all ?? check.any ?? []).map(quoted).join(check.any ? ' or ' : ' and ')
    return `${check.negate ? 'does not contain' : 'contains'} ${words || 'what is expected'}`
  }
  if (check.type === 'exact')
    return `${not}equal to ${check.value === undefined ? 'what is expected' : quoted(check.value)}`
  if (check.type === 'regex') return `${check.negate ? 'does not match' : 'matches'} /${check.pattern}/`
  if (check.type === 'cost') return `cost ${check.negate ? 'above' : 'at most'} $${check.max}`
  if (check.type === 'latency') return `${check.negate ? 'longer than' : 'at most'} ${check.max} ms`
  return `${not}valid by the schema`
}

function quoted(value: unknown): string {
  return `“${oneLine(value).slice(0, 40)}”`
}

/** The texts, one a line. If one of them has lines, all are JSON. */
function valueText(check: Check): string {
  if (check.type === 'contains') {
    const texts = check.all ?? check.any ?? []
    return texts.some((text) => /^\s*\[|\n/.test(text)) ? JSON.stringify(texts) : texts.join('\n')
  }
  if (check.type === 'exact') return answerTextOf(check.value)
  if (check.type === 'regex') return check.pattern
  return check.type === 'json_schema' ? JSON.stringify(check.schema, null, 2) : String(check.max)
}

function valueIn(text: string): { value?: unknown } {
  const value = expectedIn(text)
  return value === null ? {} : { value }
}

function textsIn(kind: 'all' | 'any', text: string): { all?: string[]; any?: string[] } {
  const value = expectedIn(text)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const texts = Array.isArray(value) ? value.map(answerTextOf) : lines
  return texts.length > 0 ? { [kind]: texts } : {}
}

function numberIn(text: string): number {
  const number = decimalIn(text)
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new Error(`This is not a number from 0 on: ${text}`)
  return number
}

/** @throws Error if the text is not a JSON object */
export function objectIn(text: string): Record<string, unknown> {
  const value = jsonOf(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('This is not a JSON object.')
  return value as Record<string, unknown>
}
