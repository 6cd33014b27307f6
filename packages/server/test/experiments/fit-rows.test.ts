import { EXPERIMENT_LIMITS } from '@stet/contract/vocabulary'
import { expect, test } from 'vitest'
import type { ArmText, ExperimentTexts } from '../../src/features/experiments/experiment.ts'
import { assertTextsFit } from '../../src/features/experiments/rows/fit-rows.ts'

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
