/** The checks that need no code of tenants. */
import { isDeepStrictEqual } from 'node:util'
import type { Check } from '@stet/contract/vocabulary'
import { parsed } from './judged-value.ts'
import { type JudgedValue, type Score, type ScoredAnswer, scored } from './score.ts'

type Of<Type extends Check['type']> = Extract<Check, { type: Type }>

const noExpected: Score = { state: 'unscored', code: 'no-expected', reason: 'The row has no expected value' }

/** A text is compared as text, or, if it is JSON, by value. */
export function exactCheck(check: Of<'exact'>, judged: JudgedValue, expected: unknown): Score {
  const wanted = check.value ?? expected
  if (wanted === undefined || wanted === null) return noExpected
  const { caseSensitive = true, trim = true } = check
  const comparable = (text: string): string => {
    const kept = trim ? text.trim() : text
    return folded(kept, caseSensitive)
  }
  const wantedText = typeof wanted === 'string' ? wanted : JSON.stringify(wanted)
  const isSameText = comparable(judged.text) === comparable(wantedText)
  const isEqual = isSameText || isSameValue(judged.json, typeof wanted === 'string' ? parsedObject(wanted) : wanted)
  return scored(check, isEqual, `is not ${quoted(wantedText)}`, `is ${quoted(wantedText)}`)
}

/** Without texts of its own, the check uses the `expected` of the row: a text, or a list of texts that must all occur. */
export function containsCheck(check: Of<'contains'>, { text }: JudgedValue, expected: unknown): Score {
  const { all, any, caseSensitive = false } = check
  const wanted = all ?? any ?? textsOf(expected)
  if (wanted.length === 0) return noExpected
  const searched = folded(text, caseSensitive)
  const occurs = (one: string): boolean => searched.includes(folded(one, caseSensitive))
  const missing = wanted.find((one) => !occurs(one))
  const hasPassed = any ? wanted.some(occurs) : missing === undefined
  const list = wanted.map(quoted).join(', ')
  const absent = any ? `contains none of ${list}` : `does not contain ${quoted(missing ?? '')}`
  return scored(check, hasPassed, absent, `contains ${any ? quoted(wanted.find(occurs) ?? '') : list}`)
}

export function limitCheck(check: Of<'cost' | 'latency'>, { costUsd, durationMs }: ScoredAnswer): Score {
  const { type, max } = check
  const actual = type === 'cost' ? costUsd : durationMs
  if (actual === undefined) return { state: 'unscored', code: 'cost-unknown', reason: 'The model has no known price' }
  const shown = (value: number): string => (type === 'cost' ? `$${value}` : `${Math.round(value)} ms`)
  const [above, within] = [`${shown(actual)} is above ${shown(max)}`, `${shown(actual)} is not above ${shown(max)}`]
  return scored(check, actual <= max, above, within)
}

/** Upper case after lower case also equates ß and SS, and both forms of the small sigma. */
function folded(text: string, caseSensitive: boolean): string {
  const composed = text.normalize('NFC')
  return caseSensitive ? composed : composed.toLowerCase().toUpperCase()
}

/** Objects and lists only: the text `"7"` is not the number 7. */
function parsedObject(text: string): unknown {
  const value = parsed(text)
  return typeof value === 'object' && value !== null ? value : undefined
}

function isSameValue(one: unknown, other: unknown): boolean {
  return one !== undefined && other !== undefined && isDeepStrictEqual(one, other)
}

function textsOf(expected: unknown): string[] {
  if (typeof expected === 'string') return expected === '' ? [] : [expected]
  if (typeof expected === 'number' || typeof expected === 'boolean') return [String(expected)]
  return Array.isArray(expected) && expected.every((one) => typeof one === 'string' && one !== '') ? expected : []
}

const quotedLength = 80

function quoted(text: string): string {
  const characters = [...text.slice(0, 2 * quotedLength)]
  const isCut = text.length > 2 * quotedLength || characters.length > quotedLength
  return JSON.stringify(isCut ? `${characters.slice(0, quotedLength).join('')}…` : text)
}
