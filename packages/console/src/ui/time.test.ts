import { expect, test } from 'vitest'
import { costText, durationText } from './time.tsx'

test.each([
  [null, 'no price'],
  [0, '$0'],
  [12.345, '$12.35'],
  [0.01, '$0.01'],
  [0.00123, '$0.0012'],
  [0.002, '$0.002'],
  [2e-8, '$0.00000002'],
])('%s USD is shown as %s', (usd, text) => expect(costText(usd)).toBe(text))

test.each([
  [419.6, '420 ms'],
  [999.7, '1.0 s'],
  [3_210, '3.2 s'],
  [59_960, '1 min 0 s'],
  [119_600, '2 min 0 s'],
  [125_000, '2 min 5 s'],
])('%s ms are shown as %s', (ms, text) => expect(durationText(ms)).toBe(text))
