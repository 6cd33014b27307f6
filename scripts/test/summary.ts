/** The end of a test run, for people: slowest files, totals by package, failures. */
import type { FileReport } from './report.ts'
import type { PackageRun } from './run-package.ts'

const slowest = 20

export function printSummary(runs: readonly PackageRun[]): void {
  const files = runs.flatMap(({ name, files }) => files.map((file) => ({ ...file, package: name })))
  console.log(`\n== the ${slowest} slowest files`)
  for (const { package: name, project, file, ms } of files.sort((a, b) => b.ms - a.ms).slice(0, slowest))
    console.log(`${seconds(ms).padStart(8)}  ${name} ${file}${project ? ` (${project})` : ''}`)

  console.log('\n== totals by package')
  console.log('                    wall s   cpu s  passed  failed  skipped  started')
  for (const { name, wallMs, cpuMs, files, started } of runs) {
    const { passed, failed, skipped } = totalsOf(files)
    const kinds = Object.entries(started).map(([kind, count]) => `${count} ${kind}`)
    const cells = [seconds(wallMs), cpuMs === undefined ? '?' : seconds(cpuMs), passed, failed, skipped]
    console.log(`${name.padEnd(17)} ${cells.map((cell) => String(cell).padStart(8)).join('')}   ${kinds.join(', ')}`)
  }
  printProblems(files)
}

/** Repeats what failed, so that the end of the output names it. */
export function printProblems(files: readonly FileReport[]): void {
  for (const name of files.flatMap(({ repeated }) => repeated)) console.log(`UNSTEADY ${name}`)
  for (const failure of files.flatMap(({ failures }) => failures)) console.log(`FAIL ${failure}`)
}

export function totalsOf(files: readonly FileReport[]): { passed: number; failed: number; skipped: number } {
  const sum = (key: 'passed' | 'failed' | 'skipped') => files.reduce((total, file) => total + file[key], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1)
