import type { Version } from '@stet/sdk'
import { expect, test } from 'vitest'
import versions from '../../../contract/samples/versions.json' with { type: 'json' }
import { armsOf, type Compared, parseOverrides } from '../../src/commands/eval/start/choose-arms.ts'

const sample = versions.Version.valid as Version
const live: Version = { ...sample, uuid: 'live', status: 'merged', version: 12, isLive: true }
const draft: Version = { ...sample, uuid: 'draft', status: 'draft', title: 'tone pass', version: null, isLive: false }
const old: Version = { ...live, uuid: 'old', version: 9, isLive: false }
const luna = { model: 'gpt-6-luna' }

const both: Compared = { candidate: draft, baseline: live }
test.each<[what: string, compared: Compared, overrides: object[], isNew: boolean, labels: string[]]>([
  ['live and a draft', both, [], false, ['live v12', 'draft "tone pass"']],
  ['a draft that is new to live', both, [], true, ['draft "tone pass"']],
  ['no baseline', { candidate: draft, baseline: undefined }, [], false, ['draft "tone pass"']],
  ['an earlier version', { candidate: draft, baseline: old }, [], false, ['v9', 'draft "tone pass"']],
  ['a further arm', both, [luna], false, ['live v12', 'draft "tone pass"', 'draft "tone pass", model=gpt-6-luna']],
  [
    'live with another model',
    { candidate: live, baseline: live },
    [luna],
    false,
    ['live v12', 'live v12, model=gpt-6-luna'],
  ],
])('compares %s', (_, compared, overrides, isNew, labels) => {
  expect(armsOf(compared, overrides, isNew).map(({ label }) => label)).toEqual(labels)
})

test('live alone has nothing to be compared with, and an experiment has at most four arms', () => {
  expect(() => armsOf({ candidate: live, baseline: live }, [], false)).toThrow('There is nothing to compare')
  expect(() => armsOf(both, [luna, luna, luna], false)).toThrow('at most 4 arms, not 5')
})

test.each([
  ['model=gpt-6-luna', luna],
  ['model=gpt-6-luna, temperature=0,topP=0.5', { ...luna, temperature: 0, topP: 0.5 }],
  ['provider=my key,reasoningEffort=low,maxTokens=100', { provider: 'my key', reasoningEffort: 'low', maxTokens: 100 }],
  ['model=a=b', { model: 'a=b' }],
])('--arm %s', (text, overrides) => {
  expect(parseOverrides(text)).toEqual(overrides)
})
