import type { Run, Version } from '@stet/sdk'
import { expect, test } from 'vitest'
import { armsOf, bodyOf, estimateOf, misfitText, serverTools } from './arms-of.ts'

const version = (uuid: string, isLive = false) => ({ uuid, isLive }) as Version
const versions = [version('mine'), version('twelve', true)]

test.each([
  ['mine', 'mine', ['live', 'mine']],
  ['other', 'mine', ['live', 'other']],
  ['live', 'mine', ['live', 'mine']],
  ['twelve', undefined, ['live']],
])('from %s, with the own draft %s', (open, own, arms) => {
  expect(armsOf(versions, open, own).map((arm) => arm.version)).toEqual(arms)
})

test('before the first publication, the draft is the only arm', () => {
  expect(armsOf([version('mine')], 'mine', 'mine')).toEqual([{ version: 'mine' }])
})

test.each([
  [undefined, 'mine', 'mine', 'mine'],
  ['mine', 'mine', 'mine', 'mine'],
  // Typing has begun a draft.
  [undefined, 'live', 'draft', 'draft'],
  ['live', 'live', 'draft', 'live'],
  ['twelve', 'twelve', 'draft', 'draft'],
])('the arm %s of a page at %s, saved as %s, runs %s', (version, open, saved, runs) => {
  const [arm] = bodyOf('reply', [version ? { version } : {}], { open, saved }).arms
  expect(arm?.versionUuid).toBe(runs)
})

test.each([
  [
    { missing: ['ticket'], invalid: [{ name: 'urgency', expected: 'a number' }] },
    'ticket missing, urgency must be a number',
  ],
  [{ reason: 'messages-with-steps', missing: [], invalid: [] }, 'a prompt with steps takes no messages'],
])('%j does not fit', (row, text) => expect(misfitText(row)).toBe(text))

test('the estimate needs a price for the model of each arm', () => {
  const last = [0.01, 0.03].map((cost) => ({ model: 'small', cost }) as Run)
  const arms = [{ version: 'live' }, { version: 'mine' }]
  expect(estimateOf(arms, 10, 'small', last)).toBeCloseTo(0.4)
  expect(estimateOf(arms, 10, undefined, last)).toBeCloseTo(0.4)
  expect(estimateOf(arms, 10, undefined, [])).toBe(null)
  expect(estimateOf(arms, 10, 'large', last)).toBe(null)
  expect(estimateOf([{ overrides: { model: 'large' } }], 1, 'small', last)).toBe(null)
  expect(estimateOf(arms, 10, 'small', [...last, { model: 'small', cost: null } as Run])).toBe(null)
})

test('tools without a definition run on the server', () => {
  const tools = [
    'search',
    { order: { description: 'An order' }, lookup: { handler: 'https://example.com' }, now: null },
  ]
  expect(serverTools({ config: { tools } })).toEqual(['search', 'lookup', 'now'])
  expect(serverTools({ config: {} })).toEqual([])
})
