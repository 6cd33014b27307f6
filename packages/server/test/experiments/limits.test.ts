import { EXPERIMENT_LIMITS } from '@stet/contract/vocabulary'
import { expect, test } from 'vitest'
import type { ArmText, ExperimentTexts } from '../../src/features/experiments/experiment.ts'
import { assertTextsFit } from '../../src/features/experiments/rows/fit-rows.ts'
import { itemsToStart } from '../../src/features/experiments/work/top-up.ts'
import { seed } from '../support/counts.ts'
import { seededRandom } from '../support/random.ts'

const textOf = (content: string): ArmText => ({
  source: { path: 'a', content, documents: {} },
  version: { uuid: '', number: null, contentHash: '' },
  path: 'a',
  usesSteps: false,
  config: {},
  projectDefaults: { provider: null, model: null },
})

test('the texts of the arms and of the judges have a limit together', () => {
  const texts = (bytes: number): ExperimentTexts => ({ arms: [textOf('x'.repeat(bytes))], judges: [textOf('')] })
  const rest = JSON.stringify(texts(0)).length
  assertTextsFit(texts(EXPERIMENT_LIMITS.textBytes - rest))
  expect(() => assertTextsFit(texts(EXPERIMENT_LIMITS.textBytes - rest + 1))).toThrow(/arms/)
})

test('100 random cost schedules exceed their budget by the runs that were active at most, and end for a reason', () => {
  const random = seededRandom(seed)
  const below = (most: number) => Math.floor(random() * most)
  for (let schedule = 0; schedule < 100; schedule += 1) {
    const limits = { concurrency: 1 + below(16), budgetUsd: 0.01 + random() * 2 }
    const costs = Array.from({ length: 1 + below(60) }, () => random() ** 3)
    const active: number[] = []
    let [next, costUsd, atBudget] = [0, 0, 0]
    for (;;) {
      const waiting = costs.length - next
      const starting = Math.max(0, itemsToStart(limits, { waiting, retrying: 0, running: active.length, costUsd }))
      active.push(...costs.slice(next, next + starting))
      next += starting
      expect(active.length).toBeLessThanOrEqual(limits.concurrency)
      if (active.length === 0) break
      if (costUsd < limits.budgetUsd) atBudget = active.reduce((sum, cost) => sum + cost, 0)
      const [ended = 0] = active.splice(below(active.length), 1)
      costUsd += ended
    }
    const facts = `seed ${seed}, schedule ${schedule}`
    expect(costUsd - atBudget, facts).toBeLessThan(limits.budgetUsd)
    expect(next === costs.length || costUsd >= limits.budgetUsd, facts).toBe(true)
  }
})
