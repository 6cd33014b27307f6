import { expect, it } from 'vitest'
import { assertPreconditions } from './preconditions.ts'

const code = (actual: string | null, wanted: Parameters<typeof assertPreconditions>[2]) => {
  try {
    assertPreconditions('a', { shown: actual, live: 'l' }, wanted)
    return 'holds'
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}

const failed = 'PreconditionFailedError'

it.each([
  ['h', {}, 'holds'],
  ['h', { ifMatch: '"h"' }, 'holds'],
  ['h', { ifMatch: 'W/"h"' }, 'holds'],
  ['h', { ifMatch: '"x", "h"' }, 'holds'],
  ['h', { ifMatch: '"x"' }, failed],
  ['h', { ifMatch: '*' }, 'holds'],
  [null, { ifMatch: '*' }, failed],
  [null, { ifMatch: '"h"' }, failed],
  ['h', { ifNoneMatch: '*' }, failed],
  [null, { ifNoneMatch: '*' }, 'holds'],
  ['h', { ifNoneMatch: '"h"' }, failed],
  ['h', { ifNoneMatch: '"x"' }, 'holds'],
  ['h', { baseHash: 'h' }, 'holds'],
  ['h', { baseHash: 'x' }, 'ConflictError'],
  ['h', { baseHash: '' }, 'ConflictError'],
  [null, { baseHash: '' }, 'holds'],
  [null, { baseHash: 'h' }, 'ConflictError'],
  ['h', { liveHash: 'l' }, 'holds'],
  ['h', { liveHash: 'h' }, 'ConflictError'],
  ['h', { liveHash: '' }, 'ConflictError'],
])('checks hash %j against %j: %s', (actual, wanted, outcome) => expect(code(actual, wanted)).toBe(outcome))

it('names the expected and the actual hashes', () => {
  const actual = { shown: null, live: null }
  expect(() => assertPreconditions('a', actual, { baseHash: 'h', liveHash: 'l' })).toThrow(
    expect.objectContaining({
      reason: 'base-changed',
      details: {
        conflicts: [
          { path: 'a', expected: 'h', actual: null },
          { path: 'a', expected: 'l', actual: null },
        ],
      },
    }),
  )
})
