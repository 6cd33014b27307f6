/** Scenarios for causes that only one route has or that one route produces differently, by `<route> <cause>`. */

import { consoleCauses } from './own/console.ts'
import { exampleCauses } from './own/examples.ts'
import { experimentCauses } from './own/experiments.ts'
import { keyCauses } from './own/keys.ts'
import { promptCauses } from './own/prompts.ts'
import { runCauses } from './own/runs.ts'
import { scoreCauses } from './own/scores.ts'
import type { Scenario } from './scenario.ts'

export const ownCauses: Record<string, Scenario> = {
  ...promptCauses,
  ...runCauses,
  ...keyCauses,
  ...scoreCauses,
  ...exampleCauses,
  ...experimentCauses,
  ...consoleCauses,
}
