import type { ExperimentItem } from '@stet/contract/vocabulary'
import { expect, test } from 'vitest'
import { labeledBy, rowVerdictOf } from './grid-model.ts'

const evaluations = ['judge', 'Checks'].map((name) => ({ uuid: name, name, type: 'rule' }))
const judging = (...counting: string[]) => evaluations.map(({ uuid }) => ({ uuid, counts: counting.includes(uuid) }))

test.each([
  [['Checks'], null, 'Checks'],
  [['judge'], null, 'judge'],
  [[], null, 'Checks'],
  [['judge'], 'Checks', 'Checks'],
])('with %j counting and %j chosen, a label goes to %s', (counting, chosen, evaluation) => {
  expect(labeledBy({ evaluations }, judging(...counting), chosen)).toBe(evaluation)
})

/** A trial by its marks of the judge and of the checks. */
const trial = ([judge, checks]: string) => {
  const scores = [
    { evaluationUuid: 'judge', passed: judge === '+' },
    { evaluationUuid: 'Checks', passed: checks === '?' ? null : checks === '+' },
  ]
  return { scores } as ExperimentItem
}

test.each([
  [['++', '+-', '++'], ['judge', 'Checks'], true],
  [['++', '+-'], ['judge', 'Checks'], false],
  [['+-'], ['judge'], true],
  [['++', '-?', '-?'], ['judge', 'Checks'], true],
  [['-?'], ['judge', 'Checks'], null],
  [['++'], [], null],
])('trials %j, of which %j count: %j', (trials, counting, passed) => {
  expect(rowVerdictOf(trials.map(trial), judging(...counting))).toBe(passed)
})
