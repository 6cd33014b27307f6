import { expect, test } from 'vitest'
import { difference, readArms, withSetting } from './arms.ts'

test('an address gives at most four arms, with what an arm can have', () => {
  expect([undefined, [], 'live', { version: 'live' }].map(readArms)).toEqual([null, null, null, null])
  const odd = { version: 7, run: ['x'], overrides: { model: 'm', temperature: 'hot', other: 1 } }
  expect(readArms([odd, null, { version: 'live' }, { run: 'r', overrides: 'x' }, {}])).toEqual([
    { overrides: { model: 'm' } },
    {},
    { version: 'live' },
    { run: 'r' },
  ])
})

test('an empty setting is that of the front matter', () => {
  const arm = withSetting({ version: 'live', run: 'r' }, 'temperature', 0)
  expect(arm).toEqual({ version: 'live', run: 'r', overrides: { temperature: 0 } })
  expect(withSetting(arm, 'temperature', '')).toEqual({ version: 'live', run: 'r' })
})

test('a difference is in percent of the left arm, if that has the figure', () => {
  expect([difference(112, 100), difference(92, 100), difference(100.2, 100)]).toEqual(['+12 %', '−8 %', 'same'])
  expect([difference(1, 0), difference(null, 1), difference(1, null)]).toEqual([null, null, null])
})
