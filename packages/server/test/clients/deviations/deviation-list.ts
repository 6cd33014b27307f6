/** Collects the differences from the discontinued server with their test results, for docs/compatibility.md. */
import { describe, expect, test } from 'vitest'
import { outcomesOf, resultsFile } from '../matrix/client-matrix.ts'

interface Deviation {
  before: string
  stet: string
  reason: string
}

export interface DeviationResult extends Deviation {
  tests: Record<string, string>
}

export type DeviationResults = Record<string, DeviationResult>

/** Declare each difference with its tests, then call `close`. */
export function deviationList() {
  const declared = new Map<string, Deviation>()
  return {
    deviation(topic: string, about: Deviation, tests: () => void) {
      declared.set(topic, about)
      describe(topic, tests)
    },
    close() {
      test('the results are those that are checked in', async ({ task }) => {
        const results: DeviationResults = {}
        for (const [topic, about] of declared) {
          const shown = task.file.tasks.find(({ name }) => name === topic)
          results[topic] = { ...about, tests: outcomesOf(shown) }
        }
        await expect(`${JSON.stringify(results, null, 2)}\n`).toMatchFileSnapshot(resultsFile('deviations'))
        for (const { tests } of Object.values(results))
          expect(new Set(Object.values(tests))).toEqual(new Set(['passed']))
      })
    },
  }
}
