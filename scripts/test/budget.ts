/**
 * Compares what the tests of a package started with test-budget.json. The figures are maxima that only fall: a test that
 * starts a server of its own where one of the file would do costs every later change its time.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PackageRun } from './run-package.ts'

const file = fileURLToPath(new URL('../../test-budget.json', import.meta.url))

/** By mode, package and kind. */
type Budgets = Record<string, Record<string, Record<string, number>>>

/** A figure this far below its maximum may vary by itself. */
const slackOf = (maximum: number) => Math.max(2, Math.ceil(maximum * 0.05))

/**
 * `pnpm test` without services and `pnpm check` with both have budgets. Undefined for other runs, whose figures depend on
 * the machine.
 */
export function budgetMode(environment: NodeJS.ProcessEnv): string | undefined {
  const services = ['STET_TEST_DATABASE_URL', 'STET_TEST_REDIS_URL'].filter((name) => environment[name])
  const isWhole = environment['STET_TEST_WHOLE'] === '1'
  if (environment['STET_TEST_LONG'] === '1') return undefined
  if (services.length === 0 && !isWhole) return 'test'
  return services.length === 2 && isWhole ? 'check' : undefined
}

/** Failed and repeated tests start things again. */
function isComparable({ isWhole, exitCode, files }: PackageRun): boolean {
  return isWhole && exitCode === 0 && files.every(({ repeated }) => repeated.length === 0)
}

export interface BudgetResult {
  exceeded: string[]
  /** Figures that the budget can be lowered to. */
  lower: string[]
}

export function compareWithBudget(runs: readonly PackageRun[], mode: string): BudgetResult {
  const result: BudgetResult = { exceeded: [], lower: [] }
  const budgets = read()
  for (const run of runs.filter(isComparable)) {
    const maxima = budgets[mode]?.[run.name] ?? {}
    for (const kind of new Set([...Object.keys(maxima), ...Object.keys(run.started)])) {
      const [started, maximum] = [run.started[kind] ?? 0, maxima[kind] ?? 0]
      const line = `${run.name}: ${started} of "${kind}", budget ${maximum}`
      if (started > maximum) result.exceeded.push(line)
      else if (started < maximum - slackOf(maximum)) result.lower.push(line)
    }
  }
  return result
}

/** Writes the figures of these runs. Returns the packages whose figures are not comparable. */
export function writeBudget(runs: readonly PackageRun[], mode: string): string[] {
  const budgets = read()
  const entries = { ...budgets[mode] }
  for (const run of runs.filter(isComparable)) entries[run.name] = run.started
  budgets[mode] = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(file, `${JSON.stringify(budgets, null, 2)}\n`)
  return runs.filter((run) => !isComparable(run)).map(({ name }) => name)
}

function read(): Budgets {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Budgets) : {}
}
