import { appendFileSync } from 'node:fs'

/** The things that a test run starts and test-budget.json limits. */
export type Started = 'server' | 'server process' | 'database' | 'browser' | 'page' | 'child process'

/** Counts what a test starts. `pnpm test` names the file; processes that a test starts inherit its name. */
export function tally(started: Started): void {
  const file = process.env['STET_TEST_TALLY']
  if (file) appendFileSync(file, `${started}\n`)
}
