import type { Reporter, TestCase } from 'vitest/node'

/** These must hold at the first try (docs/reliability.md): a failure by chance is a loss by chance. */
const neverRepeated = /\bpromise [1-8]: /

/**
 * Names the tests that passed only when they were repeated. `pnpm check` repeats a failed test once, so that one unsteady
 * test does not hold up everybody's work; each one named here is a bug and is mended before anything else.
 */
export default class UnsteadyTests implements Reporter {
  readonly #found: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return
    const [first] = test.result().errors ?? []
    const name = `${test.module.relativeModuleId} > ${test.fullName}`
    this.#found.push(`UNSTEADY ${name}\n${first?.stack ?? first?.message ?? ''}`)
    if (neverRepeated.test(name)) process.exitCode = 1
  }

  onTestRunEnd(): void {
    for (const found of this.#found) console.log(`\n${found}`)
  }
}
