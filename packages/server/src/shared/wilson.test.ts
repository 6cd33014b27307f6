import { expect, test } from 'vitest'
import { wilsonInterval } from './wilson.ts'

// Newcombe (1998), Statistics in Medicine 17:857, table I, method 3; the last row is the one of the judge's page.
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
  [9, 10, 0.5958, 0.9821],
])('%i of %i', (successes, total, low, high) => {
  const interval = wilsonInterval(successes, total)
  expect(interval?.low).toBeCloseTo(low, 4)
  expect(interval?.high).toBeCloseTo(high, 4)
})

test('says nothing without observations', () => {
  expect(wilsonInterval(0, 0)).toBeUndefined()
})
