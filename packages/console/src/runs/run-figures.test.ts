import { expect, test } from 'vitest'
import { changeOf, changeText } from './run-figures.ts'

test('a change compares equal lengths of time', () => {
  expect(changeOf(15, 10)).toBe(0.5)
  // 15 in half a day are as many as 30 in a day.
  expect(changeOf(15, 30, 0.5)).toBe(0)
  expect(changeOf(0, 0)).toBe(0)
  expect(changeOf(3, 0)).toBe(Number.POSITIVE_INFINITY)
  expect(changeOf(3, null)).toBeNull()
})

test.each([
  [0.123, '+12%'],
  [-0.034, '−3%'],
  [0.001, '±0%'],
  [39, '×40'],
  [Number.POSITIVE_INFINITY, 'new'],
  [null, ''],
])('the change %s is shown as %s', (change, text) => expect(changeText(change)).toBe(text))
