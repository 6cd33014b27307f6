/** Causes that a route has for itself, or in a way of its own: by `<route> <cause>`. */

import { keyCauses } from './own/keys.ts'
import { promptCauses } from './own/prompts.ts'
import { runCauses } from './own/runs.ts'
import { scoreCauses } from './own/scores.ts'
import type { Scenario } from './scenario.ts'

export const ownCauses: Record<string, Scenario> = { ...promptCauses, ...runCauses, ...keyCauses, ...scoreCauses }
