/** Writes one JSON line for each test file to the file that `pnpm test` names, so that an ended run has a summary too. */
import { appendFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule, TestRunEndReason } from 'vitest/node'

/** The results of one file of tests. */
export interface FileReport {
  project: string
  file: string
  ms: number
  passed: number
  failed: number
  skipped: number
  /** The tests that passed only when they were repeated. */
  repeated: string[]
  /** Failed tests with the first line of their error. */
  failures: string[]
}

/** The last line of a run that was not interrupted. */
export interface RunEnd {
  end: TestRunEndReason
}

export default class FileReports implements Reporter {
  readonly #to = process.env['STET_TEST_REPORT']

  onTestModuleEnd(module: TestModule): void {
    const tests = [...module.children.allTests()]
    const having = (state: string) => tests.filter((test) => test.result().state === state)
    const { duration, collectDuration, setupDuration, prepareDuration, environmentSetupDuration } = module.diagnostic()
    const failures = [
      ...module.errors().map((error) => `${module.relativeModuleId}: ${firstLine(error.message)}`),
      ...having('failed').map((test) => `${nameOf(test)}: ${firstLine(test.result().errors?.[0]?.message)}`),
    ]
    this.#write({
      project: module.project.name,
      file: module.relativeModuleId,
      ms: Math.round(duration + collectDuration + setupDuration + prepareDuration + environmentSetupDuration),
      passed: having('passed').length,
      failed: failures.length,
      skipped: having('skipped').length,
      repeated: tests.filter((test) => test.diagnostic()?.flaky).map(nameOf),
      failures,
    })
  }

  onTestRunEnd(_modules: unknown, _errors: unknown, end: TestRunEndReason): void {
    this.#write({ end })
  }

  #write(line: FileReport | RunEnd): void {
    if (this.#to) appendFileSync(this.#to, `${JSON.stringify(line)}\n`)
  }
}

const nameOf = (test: TestCase) => `${test.module.relativeModuleId} > ${test.fullName}`

const firstLine = (text = '') => text.split('\n', 1)[0]?.slice(0, 300) ?? ''
