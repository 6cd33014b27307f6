import { describe, expect, test } from 'vitest'
import type { StoredGate } from '../../projects/project.ts'
import type { VerdictItem, VerdictScore, Verdicts } from '../ports.ts'
import type { JudgingEvaluation } from '../report/report.ts'
import {
  type ComparedExperiment,
  comparing,
  type GatedPrompt,
  type GateInput,
  gateVerdict,
  hasSameRows,
} from './gate-verdict.ts'

const ada = { id: 1, name: 'Ada', email: 'ada@example.com' }
const ben = { id: 2, name: 'Ben', email: 'ben@example.com' }

const prompt: GatedPrompt = {
  ...{ path: 'a', livePath: 'a', documentUuid: 'document', fingerprint: 'draft', liveFingerprint: 'live' },
  authorIds: new Set([ada.id]),
}
const checks: JudgingEvaluation = { uuid: 'checks', name: 'Checks', type: 'rule', isChecks: true }
const gate: StoredGate = { path: 'a', evaluations: ['Checks'], minRows: 5, maxUnscored: 0.05, labels: 'others' }

function experiment(change: Partial<ComparedExperiment> = {}, arms = ['live', 'draft']): ComparedExperiment {
  const evaluationUuids = ['checks', 'judge']
  const facts = { uuid: 'e', state: 'completed' as const, isStale: false, evaluationUuids }
  return { ...facts, arms: arms.map((fingerprint) => ({ fingerprint })), ...change }
}

const marks: Record<string, VerdictScore> = {
  '+': { hasPassed: true, by: 'auto' },
  '-': { hasPassed: false, by: 'auto' },
  '?': { by: 'auto', code: 'provider_error' },
  // Labels over the opposite automatic score.
  a: { hasPassed: true, by: 'person', author: ada, auto: { hasPassed: false } },
  b: { hasPassed: true, by: 'person', author: ben, auto: { hasPassed: false } },
}

/** Two characters for each row: its score in the baseline and in the arm. */
function verdictsOf(rows: string[], tags: string[] = [], evaluation = 'checks'): Verdicts {
  const items = rows.flatMap((row, place) =>
    [...row].map((mark, arm): VerdictItem => {
      const score = marks[mark]
      const facts = { uuid: `${place}.${arm}`, arm, exampleUuid: `${place}`, outcome: 'ended' as const }
      return { ...facts, costUsd: arm + 1, scores: score ? { [evaluation]: score } : {} }
    }),
  )
  const described = rows.map((_, place) => ({
    exampleUuid: `${place}`,
    name: `row ${place}`,
    tags,
  }))
  return { arms: rows[0]?.length ?? 2, rows: described, items }
}

const rowsOf = (broke: number, fixed: number, same: number) => [
  ...Array<string>(broke).fill('+-'),
  ...Array<string>(fixed).fill('-+'),
  ...Array<string>(same).fill('++'),
]

function inputOf(
  rows: string[],
  change: Partial<GateInput> & { tags?: string[]; evaluation?: string } = {},
): GateInput {
  const { tags, evaluation, ...more } = change
  const result = { experiment: experiment(), verdicts: verdictsOf(rows, tags, evaluation), evaluations: [checks] }
  return { gate, place: 0, prompt, experiments: [result.experiment], result, rows: rows.length, ...more }
}

describe('the verdict of a gate', () => {
  test('a pass, with its numbers', () => {
    expect(gateVerdict(inputOf(rowsOf(3, 5, 42)))).toEqual({
      ...{ path: 'a', documentUuid: 'document', gate: 0, verdict: 'pass', code: null, failed: [] },
      ...{ message: '3 broke, 5 fixed, 42 same.', experimentUuid: 'e', tries: 1 },
      ...{ broke: 3, fixed: 5, same: 42, notPaired: 0, passRate: 47 / 50 },
      rows: [0, 1, 2].map((place) => ({ exampleUuid: `${place}`, name: `row ${place}`, tags: [], must: false })),
      labels: { count: 0, people: [], leftOut: 0 },
    })
  })

  test.each([
    [{}, rowsOf(5, 0, 15), ['sign'], '5 broke, 0 fixed, 15 same: more rows broke than chance explains (p = 0.031).'],
    [{ maxBroken: 0 }, rowsOf(1, 5, 15), ['maxBroken'], '1 broke, 5 fixed, 15 same: at most 0 may break.'],
    [
      { passRateAtLeast: 0.99 },
      rowsOf(1, 5, 14),
      ['passRateAtLeast'],
      '1 broke, 5 fixed, 14 same: 95 % pass, and the gate asks for 99 %.',
    ],
    [
      { noWorseBy: 0.1, maxCostRatio: 1.5 },
      rowsOf(0, 0, 20),
      ['noWorseBy', 'maxCostRatio'],
      '0 broke, 0 fixed, 20 same: the rows do not rule out a loss of more than 10 points; it costs 2.00 times as much as live, and the gate allows 1.5.',
    ],
  ])('%o fails', (conditions, rows, failed, message) => {
    expect(gateVerdict(inputOf(rows, { gate: { ...gate, ...conditions } }))).toMatchObject({
      verdict: 'fail',
      failed,
      message,
    })
  })

  test('a broken row with the tag must fails, and is named', () => {
    const verdict = gateVerdict(inputOf(rowsOf(1, 9, 10), { tags: ['must'] }))
    expect(verdict).toMatchObject({ verdict: 'fail', failed: ['must'], rows: [{ name: 'row 0', must: true }] })
    expect(verdict.message).toBe('1 broke (1 must), 9 fixed, 10 same: 1 with the tag must broke.')
  })

  const noResult = { result: null }
  test.each([
    ['no-experiment', { ...noResult, experiments: [] }],
    ['running', { ...noResult, experiments: [experiment({ state: 'running' })] }],
    ['stopped', { ...noResult, experiments: [experiment({ state: 'stopped' })] }],
    ['stopped', { ...noResult, experiments: [experiment({ state: 'failed' }), experiment({ state: 'running' })] }],
    ['rows-changed', { ...noResult, experiments: [experiment({ state: 'running' }), experiment()] }],
    ['too-few-rows', { rows: 0 }],
  ] as [string, Partial<GateInput>][])('%s', (code, change) => {
    expect(gateVerdict(inputOf(rowsOf(0, 0, 20), change))).toMatchObject({ verdict: 'inconclusive', code })
  })

  const resultOf = (change: Partial<NonNullable<GateInput['result']>>, rows = rowsOf(9, 0, 11)) => {
    return { result: { experiment: experiment(), verdicts: verdictsOf(rows), evaluations: [checks], ...change } }
  }
  const toneGate = { ...gate, evaluations: ['Tone'] }
  const judgeOf = (trust: NonNullable<JudgingEvaluation['trust']>): JudgingEvaluation => {
    return { uuid: 'judge', name: 'Tone', type: 'judge', trust }
  }
  test.each([
    ['stale', resultOf({ experiment: experiment({ isStale: true }) })],
    ['judge-changed', { ...resultOf({ evaluations: [judgeOf('changed')] }), gate: toneGate }],
    ['judge-not-validated', { ...resultOf({ evaluations: [judgeOf('not-validated')] }), gate: toneGate }],
    ['unscored', resultOf({ evaluations: [{ ...checks, name: 'Tone' }] })],
    // Another evaluation with the name of the built-in one.
    ['unscored', resultOf({ evaluations: [{ ...checks, isChecks: false }] })],
    // The experiment has this evaluation no longer or not yet.
    ['unscored', resultOf({ experiment: experiment({ evaluationUuids: [] }) })],
    ['unscored', resultOf({ verdicts: verdictsOf([...rowsOf(0, 0, 18), '+?', '+?']) })],
    ['too-few-rows', resultOf({ verdicts: verdictsOf(rowsOf(0, 0, 4)) })],
  ] as [string, Partial<GateInput>][])('%s, also with broken rows', (code, change) => {
    expect(gateVerdict(inputOf([], { rows: 20, ...change }))).toMatchObject({
      verdict: 'inconclusive',
      code,
      failed: [],
    })
  })

  test('a judge that agrees with people counts', () => {
    const verdicts = verdictsOf(rowsOf(9, 0, 11), [], 'judge')
    const change = { ...resultOf({ verdicts, evaluations: [judgeOf('validated')] }), gate: toneGate }
    expect(gateVerdict(inputOf([], { rows: 20, ...change }))).toMatchObject({ verdict: 'fail', broke: 9 })
  })

  test.each([
    // Ada changed the prompt, so her labels do not count: the automatic scores below them fail.
    ['others', 'ab', 1, [ben], 1],
    ['all', 'ab', 2, [ada, ben], 0],
    ['none', 'ab', 0, [], 2],
  ] as const)('labels: %s', (labels, authors, count, people, leftOut) => {
    const rows = [...[...authors].map((author) => `+${author}`), ...rowsOf(0, 0, 18)]
    const { broke, labels: used } = gateVerdict(inputOf(rows, { gate: { ...gate, labels } }))
    expect([broke, used]).toEqual([leftOut, { count, people, leftOut }])
  })

  test('a label by an author without an automatic score leaves the answer without a score', () => {
    const verdicts = verdictsOf([...rowsOf(0, 0, 19), '++'])
    const last = verdicts.items.at(-1)
    if (last) last.scores = { checks: { hasPassed: true, by: 'person', author: ada } }
    expect(gateVerdict(inputOf([], { rows: 20, ...resultOf({ verdicts }) }))).toMatchObject({ notPaired: 1, same: 19 })
  })

  test('an unknown cost does not meet a limit of it', () => {
    const { result } = inputOf(rowsOf(0, 0, 20))
    for (const item of result?.verdicts.items ?? []) if (item.arm === 1) delete item.costUsd
    expect(gateVerdict(inputOf([], { result, rows: 20 }))).toMatchObject({ verdict: 'pass' })
    const limited = inputOf([], { result, rows: 20, gate: { ...gate, maxCostRatio: 1.5 } })
    const message = 'The cost of an answer is unknown, and the gate limits it.'
    expect(gateVerdict(limited)).toMatchObject({ verdict: 'inconclusive', code: 'unscored', message })
  })

  test('any cost is above a limit where live is free, and none is within it', () => {
    const { result } = inputOf(rowsOf(0, 0, 20))
    for (const item of result?.verdicts.items ?? []) item.costUsd = 0
    const limited = inputOf([], { result, rows: 20, gate: { ...gate, maxCostRatio: 1.5 } })
    expect(gateVerdict(limited)).toMatchObject({ verdict: 'pass' })
    for (const item of result?.verdicts.items ?? []) item.costUsd = item.arm
    const message = expect.stringContaining('it costs money where live is free')
    expect(gateVerdict(limited)).toMatchObject({ verdict: 'fail', failed: ['maxCostRatio'], message })
  })

  test('the number of tries is shown', () => {
    const experiments = Array.from({ length: 3 }, () => experiment())
    expect(gateVerdict(inputOf(rowsOf(0, 0, 20), { experiments })).message).toBe('0 broke, 0 fixed, 20 same (3rd try).')
  })
})

describe('a prompt that live does not have', () => {
  const added = { ...prompt, liveFingerprint: null }
  const result = {
    experiment: experiment({}, ['draft']),
    verdicts: { ...verdictsOf([...Array<string>(17).fill('+'), ...Array<string>(3).fill('-')]), arms: 1 },
    evaluations: [checks],
  }
  test.each([
    [{}, 'pass', []],
    [{ passRateAtLeast: 0.85 }, 'pass', []],
    [{ passRateAtLeast: 0.86 }, 'fail', ['passRateAtLeast']],
    [{ passRateAtLeast: 0.8, minRows: 21 }, 'inconclusive', []],
    // Conditions against live do not apply.
    [{ passRateAtLeast: 0.8, maxBroken: 0, noWorseBy: 0.01, maxCostRatio: 0.1 }, 'pass', []],
  ])('%o: %s', (conditions, verdict, failed) => {
    const input = inputOf([], { gate: { ...gate, ...conditions }, prompt: added, result, rows: 20 })
    expect(gateVerdict(input)).toMatchObject({ verdict, failed })
  })
})

test('experiments compare the text of the draft with live as the baseline', () => {
  const others = [
    experiment({}, ['live', 'other']),
    experiment({}, ['draft', 'live']),
    experiment({}, ['other', 'draft']),
    experiment({}, ['draft']),
  ]
  const fitting = [experiment({}, ['live', 'draft']), experiment({}, ['live', 'other', 'draft'])]
  expect(comparing([...others, ...fitting], prompt)).toEqual(fitting)
  const added = { ...prompt, liveFingerprint: null }
  expect(comparing([experiment({}, ['draft']), experiment({}, ['other'])], added)).toHaveLength(1)
})

test.each([
  [['0', '1'], true],
  [['0'], false],
  [['0', '1', '2'], false],
  [['0', '2'], false],
])('the rows %o: %s', (now, isSame) => {
  const rows = ['0', '1'].map((exampleUuid) => ({ exampleUuid, rowHash: `h${exampleUuid}` }))
  expect(hasSameRows(rows, new Map(now.map((uuid) => [uuid, `h${uuid}`])))).toBe(isSame)
  expect(
    hasSameRows(
      rows,
      new Map([
        ['0', 'h0'],
        ['1', 'edited'],
      ]),
    ),
  ).toBe(false)
})
