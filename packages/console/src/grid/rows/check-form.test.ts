import type { Check } from '@stet/contract/vocabulary'
import { expect, test } from 'vitest'
import { checkIn, checkText, formOf, newCheck } from './check-form.ts'

const checks: [Check, string][] = [
  [{ type: 'contains', all: ['refund', 'days'] }, 'contains “refund” and “days”'],
  [{ type: 'contains', any: ['two\nlines', '[b'], negate: true }, 'does not contain “two lines” or “[b”'],
  [{ type: 'contains', caseSensitive: true, field: '/order' }, 'contains what is expected'],
  [{ type: 'exact', value: { ok: true }, negate: true }, 'not equal to “{ "ok": true }”'],
  [{ type: 'exact', value: 'Yes', caseSensitive: false, trim: false }, 'equal to “Yes”'],
  [{ type: 'regex', pattern: '^\\d+$', flags: 'm', field: '/id' }, 'matches /^\\d+$/'],
  [{ type: 'json_schema', schema: { type: 'object' } }, 'valid by the schema'],
  [{ type: 'cost', max: 0.01 }, 'cost at most $0.01'],
  [{ type: 'latency', max: 4000, negate: true }, 'longer than 4000 ms'],
]

test.each(checks)('%j is read as "%s", and a form that shows it gives it back', (check, text) => {
  expect(checkText(check)).toBe(text)
  const { stored: _, ...form } = formOf(check)
  const { trim: __, ...shown } = { trim: true, ...check }
  expect(checkIn(form)).toEqual(shown)
  expect(checkIn({ ...form, stored: check })).toEqual(check)
})

test('what the form does not show stays as it is', () => {
  const seven: Check = { type: 'exact', value: 7 }
  expect(checkIn(formOf(seven))).toBe(seven)
  expect(checkIn({ ...formOf(seven), text: '8' })).toEqual({ type: 'exact', value: '8' })
  for (const check of [
    seven,
    ...[null, '', '[1]'].map((value): Check => ({ type: 'exact', value })),
    { type: 'contains', all: ['', ' '] },
    { type: 'contains', any: [] },
  ] satisfies Check[])
    expect(checkIn({ ...formOf(check), isNegated: true })).toEqual({ ...check, negate: true })
  const some: Check = { type: 'contains', all: ['[1]', 'two'] }
  expect(checkIn({ ...formOf(some), kind: 'any' })).toEqual({ type: 'contains', any: ['[1]', 'two'] })
})

test('empty texts and fields are left out, and a number is a number', () => {
  expect(checkIn({ ...newCheck(), text: ' \n', field: ' ' })).toEqual({ type: 'contains' })
  expect(checkIn({ ...newCheck(), kind: 'cost', text: '0,5' })).toEqual({ type: 'cost', max: 0.5 })
  expect(checkIn({ ...newCheck(), kind: 'cost', text: '0,005' })).toEqual({ type: 'cost', max: 0.005 })
  for (const text of ['soon', '4,000', '1,2,3', 'Infinity', '-1'])
    expect(() => checkIn({ ...newCheck(), kind: 'latency', text })).toThrow('not a number')
  expect(() => checkIn({ ...newCheck(), kind: 'json_schema', text: '[]' })).toThrow('not a JSON object')
})
