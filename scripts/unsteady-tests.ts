import type { Reporter, TestCase } from 'vitest/node'

/**
 * Names the tests that passed only when they were repeated. `pnpm check` repeats a failed test once, so that one unsteady
 * test does not hold up everybody's work; each one named here is a bug and is mended before anything else.
 */
export default class UnsteadyTests implements Reporter {
  readonly #found: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return
    const [first] = test.result().errors ?? []
    this.#found.push(
      `UNSTEADY ${test.module.relativeModuleId} > ${test.fullName}\n${first?.stack ?? first?.message ?? ''}`,
    )
  }

  onTestRunEnd(): void {
    for (const found of this.#found) console.log(`\n${found}`)
  }
}
