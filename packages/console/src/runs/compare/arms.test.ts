import { expect, test } from 'vitest'
import { readArms, withSetting } from './arms.ts'

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
