/** Runs the tests of one package and returns what they did, started and cost. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { FileReport, RunEnd } from './report.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = join(root, 'node_modules', '.cache', 'stet-tests')
/** The results of the last `pnpm test`, for the end of `pnpm check`. */
export const resultsFile = join(cache, 'results.json')
const reporter = fileURLToPath(new URL('report.ts', import.meta.url))

export interface PackageRun {
  name: string
  files: FileReport[]
  /** How often the tests started each kind of part. */
  started: Record<string, number>
  wallMs: number
  /** CPU time of the process and all its ended children. Undefined where the shell does not say it. */
  cpuMs: number | undefined
  /** False after a signal, or if Vitest stopped before its end. */
  isWhole: boolean
  exitCode: number
}

export const packages: readonly string[] = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'vitest.config.ts')),
)

/**
 * @param args further arguments for Vitest.
 * @param name of the run, where it is not the whole package.
 */
export async function runPackage(
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
  name = folder,
): Promise<PackageRun> {
  const report = join(cache, `${name}.jsonl`)
  const tallied = join(cache, `${name}.tally`)
  mkdirSync(cache, { recursive: true })
  for (const file of [report, tallied]) rmSync(file, { force: true })
  const startedMs = Date.now()
  const command = ['vitest', 'run', '--reporter=default', `--reporter=${reporter}`, ...args]
  // The shell prints what the run and its children cost. Windows has no such shell.
  const hasTimes = process.platform !== 'win32'
  const [program = '', ...rest] = hasTimes ? ['sh', '-c', '"$@"; s=$?; times >&3; exit $s', 'sh', ...command] : command
  const child = spawn(program, rest, {
    cwd: join(root, 'packages', folder),
    env: { ...process.env, ...env, STET_TEST_REPORT: report, STET_TEST_TALLY: tallied },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    shell: !hasTimes,
  })
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface({ input: stream }).on('line', (line) => console.log(`${name}: ${line}`))
  let times = ''
  child.stdio[3]?.on('data', (chunk: Buffer) => (times += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const lines = linesOf(report).map((line) => JSON.parse(line) as FileReport | RunEnd)
  return {
    name,
    files: lines.filter((line) => 'file' in line),
    started: countOf(linesOf(tallied)),
    wallMs: Date.now() - startedMs,
    cpuMs: cpuMsOf(times),
    isWhole: lines.some((line) => 'end' in line && line.end !== 'interrupted'),
    exitCode: code ?? 1,
  }
}

/** The files reported so far, also while the package still runs. */
export function filesSoFar(name: string): FileReport[] {
  const lines = linesOf(join(cache, `${name}.jsonl`)).map((line) => JSON.parse(line) as FileReport | RunEnd)
  return lines.filter((line) => 'file' in line)
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

function countOf(kinds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of [...kinds].sort()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** The second line of `times` is the user and system time of the children: `1m2.03s 0m1.50s`. */
function cpuMsOf(times: string): number | undefined {
  const parts = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
  if (parts.length === 0) return undefined
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1_000, 0)
}
