/**
 * `pnpm check`: runs all checks, fast ones first, and reports every failure. A failed build ends the run. Steps and
 * suites whose inputs have passed before are skipped, unless `--all` is given. After `--minutes` (60) the run stops itself
 * with a summary.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { shardNames } from './long/shards.ts'
import { hasPassed, inputsHash, isSkippable, recordPass } from './passed-inputs.ts'
import type { FileReport } from './test/report.ts'
import { resultsFile } from './test/run-package.ts'
import { printProblems } from './test/summary.ts'

type Step = readonly [name: string, command: string, ...args: string[]]

const first: readonly Step[] = [
  ['lint and format', 'biome', 'check', '--error-on-warnings', '.'],
  ['build', 'pnpm', 'run', 'build'],
]

/** Cheap and independent of each other: two run at once. */
const beside: readonly Step[] = [
  ['types', 'pnpm', 'run', 'types'],
  ['rooms', 'pnpm', 'run', 'rules'],
  ['unused code', 'pnpm', 'run', 'unused'],
  ['docs site', 'pnpm', 'run', 'docs:build'],
  ['budgets', 'pnpm', 'run', 'budgets'],
  ['promises', 'tsx', 'scripts/checks/promises.ts'],
  ['links', 'tsx', 'scripts/checks/links.ts'],
  ['suite inputs', 'tsx', 'scripts/checks/suite-inputs.ts'],
  ['install scripts', 'tsx', 'scripts/checks/install-scripts.ts'],
  ['workflows', 'tsx', 'scripts/checks/workflows.ts'],
  ['compose and chart', 'tsx', 'scripts/checks/deploy.ts'],
  ['install commands', 'tsx', 'scripts/checks/install-commands.ts'],
  ['migrations', 'tsx', 'scripts/checks/migrations.ts'],
  ['generated files', 'tsx', 'scripts/checks/generated.ts'],
]

const { values } = parseArgs({ options: { all: { type: 'boolean' }, minutes: { type: 'string', default: '60' } } })

/** Alone: beside another step, the server's background work would count as part of the run path. */
const alone: readonly Step[] = [['run path', 'tsx', 'scripts/checks/run-path.ts']]

const tests: Step = ['tests', 'tsx', 'scripts/test.ts', '--whole', '--retry', ...(values.all ? ['--all'] : [])]

/** The other two use half a core, mostly wait for installations, and work in folders of their own. */
const besideTests: readonly Step[] = [
  tests,
  ['README walk', 'tsx', 'scripts/checks/readme-walk.ts'],
  ['container', 'tsx', 'scripts/checks/container.ts'],
]

/** Builds the packages again from empty folders, which all other steps read. */
const last: readonly Step[] = [['release', 'pnpm', 'run', 'release:dry']]

const limitMinutes = Number(values.minutes)
const startedMs = Date.now()
const running = new Map<string, ChildProcess>()
const passed: string[] = []
const failed: string[] = []
const skipped: string[] = []
let isOver = false

rmSync(resultsFile, { force: true })
console.log(`load ${loadavg()[0]?.toFixed(1)} at the start`)
const timer = setTimeout(stop, limitMinutes * 60_000)
// Each step is a process group of its own, which the terminal does not end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)

if (await playAll(first, 1)) {
  await playAll(beside, 2)
  await playAll(alone, 1)
  await playAll(besideTests, 2)
  await playAll(last, 1)
}
clearTimeout(timer)
conclude()

/** Returns whether all passed. */
async function playAll(steps: readonly Step[], lanes: number): Promise<boolean> {
  const waiting = [...steps]
  const failedBefore = failed.length
  const playLane = async () => {
    for (let step = waiting.shift(); step && !isOver; step = waiting.shift())
      await play(step, lanes > 1 && step !== tests)
  }
  await Promise.all(Array.from({ length: lanes }, playLane))
  return failed.length === failedBefore
}

/** @param isCollected prints the output of the step at its end, so that it is not mixed with that of another one. */
async function play([name, command, ...args]: Step, isCollected: boolean): Promise<void> {
  const hash = isSkippable(name) ? inputsHash(name) : undefined
  if (isSkippable(name) && hash !== undefined && !values.all && hasPassed(name, hash)) {
    skipped.push(name)
    console.log(`\n== ${name}: skipped, its inputs have passed before (scripts/passed-inputs.ts)`)
    return
  }
  const stepMs = Date.now()
  if (!isCollected) console.log(`\n== ${name}`)
  const output = isCollected ? 'pipe' : 'inherit'
  const child = spawn(command, args, { stdio: ['ignore', output, output], detached: true })
  running.set(name, child)
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => printed.push(chunk))
  const [code, signal] = await ended(child)
  // The last line is ours, so children that still print are waited for.
  while (isOver && endGroup(child.pid, 0)) await delay(100)
  running.delete(name)
  if (isCollected) process.stdout.write(Buffer.concat([Buffer.from(`\n== ${name}\n`), ...printed]))
  const verdict = code === 0 ? 'ok' : `FAILED (${signal ?? `exit code ${code}`})`
  console.log(`== ${name}: ${verdict} in ${((Date.now() - stepMs) / 1_000).toFixed(1)} s`)
  if (code !== 0) failed.push(name)
  else passed.push(name)
  if (code === 0 && isSkippable(name) && hash !== undefined && recordPass(name, hash))
    console.log(`Commit scripts/passed-inputs.json: it says that these inputs have passed "${name}".`)
}

async function ended(child: ChildProcess): Promise<[code: number | null, signal: string | null]> {
  try {
    return (await once(child, 'close')) as [number | null, string | null]
  } catch (error) {
    return [null, String(error)]
  }
}

/** Ends the running steps. The tests say on SIGTERM what has passed so far. */
function stop(reason?: NodeJS.Signals): void {
  isOver = true
  clearTimeout(timer)
  const during = [...running.keys()].join(' and ')
  console.error(`\n== STOPPED ${reason ? `by ${reason}` : `after ${limitMinutes} minutes`}, during: ${during}`)
  for (const { pid } of running.values()) endGroup(pid, 'SIGTERM')
  setTimeout(() => {
    for (const { pid } of running.values()) endGroup(pid, 'SIGKILL')
  }, 15_000).unref()
}

/** Returns whether the process group exists. */
function endGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

function conclude(): void {
  const notRun = [...first, ...beside, ...alone, ...besideTests, ...last]
    .map(([name]) => name)
    .filter((name) => ![...passed, ...failed, ...skipped].includes(name))
  const results = testResults()
  console.log(`\n== passed: ${passed.join(', ') || 'nothing'}`)
  if (skipped.length > 0) console.log(`== skipped, in test:long and before a release only: ${skipped.join(', ')}`)
  if (notRun.length > 0) console.log(`== not run: ${notRun.join(', ')}`)
  console.log(`== left to test:long: the large counts and all suites on PostgreSQL (${shardNames.join(', ')})`)
  printProblems(results.files)
  for (const problem of results.problems) console.error(problem)
  if (failed.length > 0) console.error(`== FAILED: ${failed.join(', ')}`)
  const minutes = ((Date.now() - startedMs) / 60_000).toFixed(1)
  console.log(`== ${minutes} minutes, load ${loadavg()[0]?.toFixed(1)} at the end`)
  if (results.passed === 0) console.error('== no test ran')
  const isFailure = failed.length > 0 || isOver || results.passed === 0
  // A failed step counts as one failure, if no test failed.
  console.log(`${results.passed} passed, ${isFailure ? Math.max(results.failed, 1) : results.failed} failed`)
  process.exitCode = isFailure ? 1 : 0
}

function testResults(): { passed: number; failed: number; files: FileReport[]; problems: string[] } {
  if (!existsSync(resultsFile)) return { passed: 0, failed: 0, files: [], problems: [] }
  return JSON.parse(readFileSync(resultsFile, 'utf8')) as ReturnType<typeof testResults>
}
