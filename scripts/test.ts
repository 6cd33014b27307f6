/**
 * `pnpm test [package …] [-- arguments for Vitest]`: builds, and runs the tests of all packages, two packages at once:
 * one of them mostly waits for pages. Tests of several servers mostly wait too, and run beside both. `--whole` adds the
 * suites that `pnpm check` runs (`onlyInCheck` in the packages' Vitest configurations) and skips those whose inputs have
 * passed before, unless `--all` is given; `--retry` repeats a failed test once; `--update` writes test-budget.json
 * (ADR 70).
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { hasPassed, inputsHash, isSkippable, recordPass } from './passed-inputs.ts'
import { budgetMode, compareWithBudget, writeBudget } from './test/budget.ts'
import { missingForTests } from './test/machine.ts'
import { filesSoFar, type PackageRun, packages, resultsFile, runPackage } from './test/run-package.ts'
import { printProblems, printSummary, totalsOf } from './test/summary.ts'

/** The longest first, so that the last one to end is short. */
const order = [
  ...['server', 'server-scaled', 'console', 'cli', 'console-rare', 'server-database', 'server-clients'],
  ...['cli-archive', 'embedded-postgres', 'sdk'],
]
const unsteady = fileURLToPath(new URL('unsteady-tests.ts', import.meta.url))

/** Flows of the console that are interrupted, or use the keyboard alone. */
const rareFlows = ['conflict', 'keyboard', 'left-texts', 'offline', 'reconnect', 'sign-out', 'upgrade']

/** Files that depend on few others, by package: in the check they have a run of their own, which passed inputs skip. */
const ownRuns: Partial<Record<string, { name: string; files: readonly string[] }>> = {
  cli: { name: 'cli-archive', files: ['test/project-archive.test.ts'] },
  console: { name: 'console-rare', files: rareFlows.map((flow) => `test/flows/${flow}.test.ts`) },
}

/** The tests of a package, or a part of them that has a run of its own. */
interface Suite {
  name: string
  folder: string
  args: readonly string[]
  /** Files, or projects of the Vitest configuration, that other runs have. `--exclude` does not reach projects. */
  without?: readonly string[]
}

const [, , ...given] = process.argv
const separator = given.includes('--') ? given.indexOf('--') : given.length
const { values, positionals } = parseArgs({
  args: given.slice(0, separator),
  allowPositionals: true,
  options: {
    whole: { type: 'boolean' },
    all: { type: 'boolean' },
    retry: { type: 'boolean' },
    update: { type: 'boolean' },
  },
})
const filters = given.slice(separator + 1)
const unknown = positionals.filter((name) => !packages.includes(name))
if (unknown.length > 0) throw new Error(`No such package: ${unknown}. There are ${packages.join(', ')}`)

const hasServices = Boolean(process.env['STET_TEST_DATABASE_URL'] && process.env['STET_TEST_REDIS_URL'])
/**
 * Tests of several servers run one file at a time and wait for timeouts, and those of the database's files and of
 * published clients are skipped while their inputs have passed: they have runs of their own.
 */
const isSplit = hasServices && filters.length === 0
/** As in CI: with every suite, so that what passes is recorded. */
const isSkipping = Boolean(values.whole) && isSplit
const rank = ({ name }: Suite) => (order.includes(name) ? order.indexOf(name) : order.length)
const waiting = (positionals.length > 0 ? positionals : packages).flatMap(suitesOf).sort((a, b) => rank(a) - rank(b))
const lanes = isSplit ? 3 : 2
const args = [...(values.retry ? ['--retry=1', `--reporter=${unsteady}`] : []), ...filters]
const running = new Set<string>()
const runs: PackageRun[] = []
const skipped: string[] = []

if (values.whole) process.env['STET_TEST_WHOLE'] = '1'
const missing = missingForTests()
const sayMissing = () => {
  for (const { what, advice } of missing) console.warn(`*** Without ${what}: ${advice}. ***`)
  if (!values.whole)
    console.warn(
      '*** Left to pnpm check: published clients, server processes, measured memory, archives of projects, some flows of the console. ***',
    )
}
sayMissing()
const build = spawnSync(process.execPath, ['scripts/turbo.mjs', 'run', 'build', '--output-logs=errors-only'], {
  stdio: 'inherit',
})
if (build.status !== 0) process.exit(build.status ?? 1)

// A run that is ended early prints the results so far.
process.once('SIGTERM', () => {
  console.log(`\n== ended early, during the tests of ${[...running].join(' and ')}`)
  const early = [...running].flatMap(filesSoFar)
  printProblems(early)
  finish(early, 1)
})

await Promise.all(Array.from({ length: lanes }, playLane))
printSummary(runs)
if (skipped.length > 0)
  console.log(`== skipped, their inputs have passed before (scripts/passed-inputs.ts): ${skipped.join(', ')}`)
const exceeded = checkBudget()
finish([], Math.max(0, ...runs.map(({ exitCode }) => exitCode), exceeded.length > 0 ? 1 : 0), exceeded)

function suitesOf(folder: string): Suite[] {
  const own = isSkipping ? ownRuns[folder] : undefined
  if (own) {
    return [
      { name: folder, folder, args: [], without: own.files },
      { name: own.name, folder, args: own.files },
    ]
  }
  if (folder !== 'server' || !isSplit) return [{ name: folder, folder, args: [] }]
  const projects = ['scaled', ...(values.whole ? ['database', 'clients'] : [])]
  return [
    { name: folder, folder, args: [], without: projects },
    ...projects.map((project) => ({ name: `server-${project}`, folder, args: [`--project=${project}`] })),
  ]
}

async function playLane(): Promise<void> {
  for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift()) {
    const { name } = suite
    const hash = isSkipping && isSkippable(name) ? inputsHash(name) : undefined
    if (isSkippable(name) && hash !== undefined && !values.all && hasPassed(name, hash)) {
      skipped.push(name)
      continue
    }
    running.add(name)
    const env = { STET_TEST_WITHOUT: suite.without?.join(',') ?? '' }
    const run = await runPackage(suite.folder, [...suite.args, ...args], env, name)
    runs.push(run)
    running.delete(name)
    const hasPassedAtOnce = run.exitCode === 0 && run.files.every(({ repeated }) => repeated.length === 0)
    if (isSkippable(name) && hash !== undefined && hasPassedAtOnce) recordPass(name, hash)
  }
}

/** Returns what exceeds the budget, a line each. */
function checkBudget(): string[] {
  const mode = budgetMode(process.env)
  if (mode === undefined || filters.length > 0) return []
  if (values.update) {
    const left = writeBudget(runs, mode)
    console.log(
      `\n== test-budget.json is written${left.length > 0 ? `, but not for ${left.join(', ')}: not all passed` : ''}`,
    )
    return []
  }
  const { exceeded, lower } = compareWithBudget(runs, mode)
  const problems = exceeded.map((line) => `BUDGET exceeded: ${line}`)
  for (const line of lower) console.log(`BUDGET can be lowered: ${line}`)
  for (const problem of problems) console.error(problem)
  if (lower.length + exceeded.length > 0) console.log('To write the budget: pnpm test --update (ADR 70)')
  return problems
}

function finish(more: ReturnType<typeof filesSoFar>, exitCode: number, exceeded: readonly string[] = []): void {
  const files = [...runs.flatMap((run) => run.files), ...more]
  const { passed, failed } = totalsOf(files)
  // Errors outside of tests, promises kept only on the second attempt and exceeded budgets fail the run, too.
  const outside = runs.filter((run) => run.exitCode !== 0 && totalsOf(run.files).failed === 0)
  const problems = [...exceeded, ...outside.map(({ name }) => `FAIL ${name}: an error outside of its tests, see above`)]
  const counted = failed === 0 && exitCode !== 0 ? 1 : failed
  writeFileSync(resultsFile, JSON.stringify({ passed, failed: counted, files, problems }))
  sayMissing()
  console.log(`${passed} passed, ${counted} failed`)
  process.exit(exitCode)
}
