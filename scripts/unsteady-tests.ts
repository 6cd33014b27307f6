import type { Reporter, TestCase } from 'vitest/node'

/** These tests must pass on the first attempt (docs/reliability.md), because a random failure could mean lost data. */
const neverRepeated = /\bpromise [1-8]: /

/**
 * Lists tests that passed only on the second attempt. `pnpm check` repeats a failed test once, so that one flaky test
 * does not block everyone. Fix each listed test before other work.
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
