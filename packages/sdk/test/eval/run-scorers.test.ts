import { describe, expect, it } from 'vitest'
import { defineEval, runScorers, type Scorer, type ScorerArgs } from '../../src/eval/index.ts'
import { ConfigurationError } from '../../src/index.ts'

const parameters = { ticket: 't' }
const args: ScorerArgs = {
  input: parameters,
  parameters,
  messages: [],
  output: 'It is on its way.',
  object: undefined,
  expected: undefined,
  toolCalls: [],
  run: { conversationUuid: 'u', costUsd: null, durationMs: 5 },
}

// JavaScript files are not checked by a compiler.
const untyped = (scorer: unknown): Scorer => scorer as Scorer

const CASES: [name: string, scorer: Scorer, verdict: object][] = [
  ['true', () => true, { passed: true }],
  ['false', () => false, { passed: false }],
  ['null', () => null, { passed: null }],
  ['a number above the threshold', () => 0.71, { passed: true, score: 0.71 }],
  ['the threshold itself', () => 0.7, { passed: true, score: 0.7 }],
  ['a number below the threshold', () => 0.69, { passed: false, score: 0.69 }],
  ['zero, which is a score', () => 0, { passed: false, score: 0 }],
  ['a promise of a boolean', async () => true, { passed: true }],
  ['a promise of null', async () => null, { passed: null }],
  ['a named score', () => ({ name: 'ExactMatch', score: 1 }), { passed: true, score: 1 }],
  ['a named score without a number', () => ({ name: 'Factuality', score: null }), { passed: null }],
  [
    'a promise of a named score with a rationale',
    async () => ({ name: 'F', score: 0.4, metadata: { rationale: ' Leaves out\nthe date', choice: 'C' } }),
    { passed: false, score: 0.4, reason: 'Leaves out' },
  ],
  [
    'a reason, before a rationale',
    () => ({ score: 1, metadata: { reason: 'Same', rationale: 'r' } }),
    { passed: true, score: 1, reason: 'Same' },
  ],
  ['a reason that is no text', () => ({ score: 1, metadata: { reason: 5 } }), { passed: true, score: 1 }],
  [
    'an unscored answer with a reason',
    () => ({ score: null, metadata: { reason: 'Too long' } }),
    { passed: null, reason: 'Too long' },
  ],
  ['nothing', untyped(() => {}), { passed: null, code: 'invalid-score', reason: expect.stringContaining('undefined') }],
  ['text', untyped(() => 'yes'), { passed: null, code: 'invalid-score', reason: expect.stringContaining('string') }],
  ['a number above 1', () => 7, { passed: null, code: 'invalid-score', reason: expect.stringContaining('7') }],
  ['NaN', () => Number.NaN, { passed: null, code: 'invalid-score', reason: expect.stringContaining('NaN') }],
  [
    'an object without a score',
    untyped(() => ({ value: 1 })),
    { passed: null, code: 'invalid-score', reason: expect.stringContaining('object') },
  ],
  [
    'a named score that is text',
    untyped(() => ({ score: '1' })),
    { passed: null, code: 'invalid-score', reason: expect.stringContaining('string') },
  ],
  [
    'a thrown error, of which one line is kept',
    () => {
      throw new Error('No key\n    at somewhere')
    },
    { passed: null, code: 'scorer-threw', reason: 'No key' },
  ],
  [
    'a rejected promise',
    () => Promise.reject(new TypeError('')),
    { passed: null, code: 'scorer-threw', reason: 'TypeError' },
  ],
  [
    'a thrown text, which is cut',
    () => Promise.reject('x'.repeat(2000)),
    { passed: null, code: 'scorer-threw', reason: 'x'.repeat(500) },
  ],
]

describe('a scorer that returns', () => {
  it.each(CASES)('%s', async (_, scorer, verdict) => {
    const definition = defineEval('support/reply', { scorers: { one: scorer }, threshold: 0.7 })
    expect(await runScorers(definition, args)).toEqual([{ scorer: 'one', ...verdict }])
  })
})

it('gives each scorer the answer, and keeps their order', async () => {
  const definition = defineEval('support/reply', {
    scorers: {
      late: async ({ output, input, parameters }) => output.startsWith('It') && input === parameters,
      soon: ({ expected }) => expected === undefined,
    },
  })
  const verdicts = await runScorers(definition, args)
  expect(verdicts.map(({ scorer, passed }) => `${scorer} ${passed}`)).toEqual(['late true', 'soon true'])
})

it('a number passes from one half without a threshold', async () => {
  const definition = defineEval('p', { scorers: { half: () => 0.5, less: () => 0.49 } })
  expect((await runScorers(definition, args)).map(({ passed }) => passed)).toEqual([true, false])
})

it.each([
  ['no scorers', { scorers: {} }],
  [
    'more than 20 scorers',
    { scorers: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`s${at}`, () => true])) },
  ],
  ['a scorer that is no function', { scorers: { one: untyped('yes') } }],
  ['a threshold above 1', { scorers: { one: () => true }, threshold: 70 }],
  ['a threshold that is no number', { scorers: { one: () => true }, threshold: Number.NaN }],
])('refuses %s', (_, options) => {
  expect(() => defineEval('p', options)).toThrow(ConfigurationError)
})
