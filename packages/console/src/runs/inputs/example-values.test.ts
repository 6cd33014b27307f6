import { expect, test } from 'vitest'
import { exampleValues } from './example-values.ts'

const current = { parameters: { ticket: 'a', urgency: 9, legacy: 'kept' }, messages: [] }
const saved = { ticket: 'a', urgency: 9 }

test('keeps what the fields do not show, and drops what was emptied', () => {
  const { isChanged, values, problem } = exampleValues(current, saved, { parameters: { ticket: 'b' }, problems: {} })
  expect(values.parameters).toEqual({ ticket: 'b', legacy: 'kept' })
  expect([isChanged, problem]).toEqual([true, null])
})

test('has changed only if a value has', () => {
  const isChanged = (parameters: Record<string, unknown>, problems = {}) =>
    exampleValues(current, saved, { parameters, problems }).isChanged
  expect([isChanged({ urgency: 9, ticket: 'a' }), isChanged({ urgency: 8, ticket: 'a' })]).toEqual([false, true])
  expect(isChanged(saved, { urgency: 'no number' })).toBe(true)
  expect(exampleValues(undefined, {}, { parameters: saved, problems: {} }).isChanged).toBe(false)
})

test('names a field that cannot be read, and the input that makes an example too large', () => {
  const problem = (ticket: string, problems = {}) =>
    exampleValues(undefined, {}, { parameters: { ticket }, problems }).problem
  expect(problem('a', { urgency: 'no number' })).toBe('Correct urgency first.')
  expect(problem('word '.repeat(60_000))).toBe(
    'An example can hold at most 256 KB. These inputs take 293 KB (ticket alone: 293 KB).',
  )
})
